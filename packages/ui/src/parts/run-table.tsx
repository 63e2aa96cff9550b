import type { RunSummary } from '@signalbox/protocol';
import { Link } from '@tanstack/react-router';
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
}

export function RunTable({ runs, withDag = true }: RunTableProps) {
  return (
    <div className="scroll-x">
      <table className="list">
        <thead>
          <tr>
            <th>State</th>
            {withDag && <th>DAG</th>}
            <th>Run</th>
            <th className="hide-narrow">Started by</th>
            <th className="hide-narrow">Created</th>
            <th className="right">Took</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <tr key={run.id}>
              <td>
                <State state={runState(run)} />
              </td>
              {withDag && (
                <td>
                  <Link to="/dags/$name" params={{ name: run.dag }} className="name-link">
                    {run.dag}
                  </Link>
                </td>
              )}
              <td>
                <Link to="/runs/$id" params={{ id: run.id }} className="mono" title={run.id}>
                  {shortId(run.id)}
                </Link>
              </td>
              <td className="soft hide-narrow">
                {run.window === null ? (
                  <span title={actorName(run.actor)}>{CAUSES[run.cause]}</span>
                ) : (
                  <>
                    schedule, <Time at={run.window} />
                  </>
                )}
              </td>
              <td className="soft hide-narrow">
                <Ago at={run.createdAt} />
              </td>
              <td className="right">
                <Took from={run.createdAt} to={run.endedAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
