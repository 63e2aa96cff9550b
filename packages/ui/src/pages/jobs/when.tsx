import type { JobView } from '@signalbox/protocol';
import { plural } from '../../parts/format.ts';
import { Ago, Time } from '../../parts/now.tsx';
import { cronWords } from '../../parts/schedule-words.ts';

/** When a job runs, or ran. */
export function When({ job: { recurring, fires, nextAt, fired, run } }: { readonly job: JobView }) {
  const next = nextAt !== null && (
    <>
      <Time at={nextAt} />, <Ago at={nextAt} />
    </>
  );
  if (!recurring) return next || <span className="soft">{run === null ? '–' : 'begun'}</span>;
  return (
    <>
      <span title={fires ?? undefined}>{cronWords(fires ?? '')}</span>
      <div className="small faint">
        {next ? <>next {next}; </> : null}
        {fired === null || fired === 0 ? 'no run yet' : `${plural(fired, 'run')} so far`}
      </div>
    </>
  );
}
