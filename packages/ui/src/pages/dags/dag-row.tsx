/** One dag in the list. Its place is known before the rest of it is. */
import type { DagView } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { span } from '../../parts/format.ts';
import { Ago, Time } from '../../parts/now.tsx';
import { cronWords } from '../../parts/schedule-words.ts';
import { RunStrip } from '../../parts/strip.tsx';
import { visible } from '../../parts/visible.ts';
import { TriggerButton } from '../../trigger/trigger.tsx';
import { CHUNK, chunkStatsQuery, type DagFilter, dagChunkQuery } from './chunks.ts';
import { successRate } from './figures.ts';
import { DagLabels } from './labels.tsx';
import { ScheduleSwitch } from './schedule-switch.tsx';

const SHOWN_TAGS = 2;

interface DagRowProps {
  readonly names: readonly string[];
  readonly index: number;
  readonly filter: DagFilter;
}

export function DagRow({ names, index, filter }: DagRowProps) {
  const name = names[index] ?? '';
  const begin = index - (index % CHUNK);
  const dag = useQuery(dagChunkQuery(filter, names[begin - 1])).data?.get(name);
  const sums = useQuery(chunkStatsQuery(names.slice(begin, begin + CHUNK))).data?.get(name);
  const rate = sums === undefined ? null : successRate(sums);
  const typical = sums?.p50Ms ?? null;
  const none = <span className="faint">–</span>;
  return (
    <div className="dag-row">
      <div role="cell" className="dag-name">
        <Link to="/dags/$name" params={{ name }} className="name-link truncate" title={name}>
          {name}
        </Link>
        {dag !== undefined && (
          <div className="dag-about small">
            <span className="only-phone">
              <RunStrip runs={dag.recentRuns} most={14} />
            </span>
            {dag.description !== null && (
              <span className="faint truncate" title={visible(dag.description)}>
                {visible(dag.description)}
              </span>
            )}
            <DagLabels tags={dag.tags} owner={dag.owner} most={SHOWN_TAGS} />
          </div>
        )}
      </div>
      <div role="cell" className="hide-phone">
        {dag !== undefined && <RunStrip runs={dag.recentRuns} />}
      </div>
      <div role="cell" className="right hide-narrow">
        {rate === null ? none : `${rate} %`}
      </div>
      <div role="cell" className="right nowrap hide-narrow">
        {typical === null ? none : span(typical)}
      </div>
      <div role="cell" className="hide-narrow dag-starts">
        {dag !== undefined && <WhatStarts dag={dag} />}
      </div>
      <div role="cell" className="hide-narrow">
        {dag !== undefined && <NextFiring dag={dag} />}
      </div>
      <div role="cell" className="row row-actions">
        {dag !== undefined && (
          <>
            {dag.schedule !== null && <ScheduleSwitch dag={name} paused={dag.schedule.paused} small />}
            <TriggerButton dag={name} small />
          </>
        )}
      </div>
    </div>
  );
}

function WhatStarts({ dag: { schedule, scheduleCount, event } }: { readonly dag: DagView }) {
  if (schedule !== null) {
    return (
      <span title={`${schedule.fires} (${schedule.zone})`}>
        {cronWords(schedule.fires)}
        <span className="small faint truncate">
          {schedule.zone}
          {scheduleCount > 1 && `, and ${scheduleCount - 1} more`}
        </span>
      </span>
    );
  }
  return event === null ? <span className="faint">by hand</span> : <span title={event}>on event {event}</span>;
}

function NextFiring({ dag: { schedule } }: { readonly dag: DagView }) {
  if (schedule === null) return <span className="faint">–</span>;
  if (schedule.paused) return <span className="chip warn">paused</span>;
  return (
    <>
      <Time at={schedule.nextAt} zone={schedule.zone} />
      <div className="small faint">
        <Ago at={schedule.nextAt} />
      </div>
    </>
  );
}
