import type { JobView } from '@signalbox/protocol';
import { plural } from '../../parts/format.ts';
import { Ago, Time } from '../../parts/now.tsx';
import { cronWords } from '../../parts/schedule-words.ts';

/** When a job runs, or ran. */
export function When({ job }: { readonly job: JobView }) {
  const { recurring, fires, nextAt, fired, state } = job;
  const runs = fired === null || fired === 0 ? 'no run yet' : `${plural(fired, 'run')} so far`;
  if (recurring) {
    return (
      <>
        <span title={fires ?? undefined}>{cronWords(fires ?? '')}</span>
        <div className="small faint nowrap">
          {nextAt !== null && (
            <>
              next <Ago at={nextAt} />,{' '}
            </>
          )}
          {runs}
        </div>
      </>
    );
  }
  if (nextAt === null) {
    if (state === 'paused') return <span className="faint">once it is resumed</span>;
    return <span className="soft">once</span>;
  }
  return (
    <>
      <Time at={nextAt} />
      <div className="small faint">
        <Ago at={nextAt} />
      </div>
    </>
  );
}
