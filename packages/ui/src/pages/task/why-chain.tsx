/** All that holds a task, to the innermost reason; when it probably starts, and what helps. */
import type { RunColumns, TaskView, TaskWhy } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { PriorityButton } from '../../actions/priority.tsx';
import { taskWhyQuery } from '../../api/queries.ts';
import { fewOf } from '../../parts/format.ts';
import { Command } from '../../parts/json.tsx';
import { Ago, Time } from '../../parts/now.tsx';
import { isEnded } from '../../parts/states.ts';
import { Linked, WhyText } from '../../parts/why-text.tsx';
import { splitSuggestion } from './why.ts';

/** Of a task that waits; undefined for others, and until it is known. */
export function useTaskWhy(run: string, { name, state }: TaskView): TaskWhy | undefined {
  // A map that has been expanded does not wait: its items do.
  const isWaiting = !isEnded(state) && state !== 'running' && state !== 'expanded';
  const why = useQuery({ ...taskWhyQuery(run, name), enabled: isWaiting }).data;
  // Why it was in the state before is of no use.
  return isWaiting && why?.state === state ? why : undefined;
}

interface WhyChainProps {
  readonly why: TaskWhy;
  readonly run: RunColumns | undefined;
}

export function WhyChain({ why, run }: WhyChainProps) {
  const { chain, suggestion, predictedStart, missing } = why;
  const inner = chain.slice(1);
  if (inner.length === 0 && suggestion === null && predictedStart === null && missing.length === 0) return null;
  return (
    <section className="why" aria-label="What holds it">
      {inner.length > 0 && (
        <ol className="why-chain">
          {inner.map((reason, at) => (
            // A task may be held by two reasons of one kind.
            <li key={`${at} ${reason.task} ${reason.code}`}>
              {reason.task !== chain[at]?.task && (
                <>
                  <Link to="/runs/$id/tasks/$task" params={{ id: why.run, task: reason.task }}>
                    {reason.task}
                  </Link>
                  :{' '}
                </>
              )}
              <WhyText why={reason} />
            </li>
          ))}
        </ol>
      )}
      <dl className="why-facts">
        {predictedStart !== null && (
          <div>
            <dt>Starts at about</dt>
            <dd>
              <b>
                <Time at={predictedStart.at} />
              </b>{' '}
              (<Ago at={predictedStart.at} />) <Linked text={predictedStart.basis} />
            </dd>
          </div>
        )}
        {suggestion !== null && (
          <div>
            <dt>What helps</dt>
            <dd>
              <Suggestion text={suggestion} />
              {run !== undefined && chain.some(({ code }) => code === 'position') && <PriorityButton run={run} />}
            </dd>
          </div>
        )}
        {missing.length > 0 && (
          <div>
            <dt>No answer from</dt>
            <dd>{fewOf(missing, 3)}: what is known there is missing.</dd>
          </div>
        )}
      </dl>
    </section>
  );
}

function Suggestion({ text }: { readonly text: string }) {
  const { advice, command } = splitSuggestion(text);
  return (
    <>
      <span>
        <Linked text={advice} />
      </span>
      {command !== null && <Command>{command}</Command>}
    </>
  );
}
