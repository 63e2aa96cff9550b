import type { RunSummary } from '@signalbox/protocol';
import { Link } from '@tanstack/react-router';
import { DagLink } from './dag-link.tsx';
import { actorName, shortId } from './format.ts';
import { Ago, Time, Took } from './now.tsx';
import { State } from './state.tsx';
import { runState } from './states.ts';

const CAUSES: Readonly<Record<RunSummary['cause'], string>> = {
  api: 'by hand or API',
  schedule: 'schedule',
  event: 'event',
  parent: 'another run',
  backfill: 'backfill',
};

interface RunTableProps {
  readonly runs: readonly RunSummary[];
  readonly withDag?: boolean;
  /** Without what started them, where there is little room. */
  readonly isBrief?: boolean;
}

export function RunTable({ runs, withDag = true, isBrief = false }: RunTableProps) {
  return (
    <div className="scroll-x">
      <table className="list">
        <thead>
          <tr>
            <th>State</th>
            {withDag && <th>DAG</th>}
            <th>Run</th>
            {!isBrief && <th className="hide-narrow">Started by</th>}
            <th className="hide-narrow">Created</th>
            <th className="right">Took</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <tr key={run.id}>
              <td>
                <State state={runState(run)} />
                {run.slowAt !== null && run.state !== 'ended' && (
                  <span className="chip warn" title="It takes longer than its soft timeout">
                    slow
                  </span>
                )}
              </td>
              {withDag && (
                <td>
                  <DagLink name={run.dag} />
                </td>
              )}
              <td>
                <Link to="/runs/$id" params={{ id: run.id }} className="mono" title={run.id}>
                  {shortId(run.id)}
                </Link>
              </td>
              {!isBrief && (
                <td className="soft nowrap hide-narrow">
                  <span title={actorName(run.actor)}>{CAUSES[run.cause]}</span>
                  {run.window !== null && (
                    <>
                      , <Time at={run.window} />
                    </>
                  )}
                </td>
              )}
              <td className="soft hide-narrow">
                {run.scheduledFor === undefined ? (
                  <Ago at={run.createdAt} />
                ) : (
                  <>
                    begins <Ago at={run.scheduledFor} />
                  </>
                )}
              </td>
              <td className="right">
                <Took from={run.scheduledFor === undefined ? run.createdAt : null} to={run.endedAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
