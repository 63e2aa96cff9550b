/** Two runs of one dag side by side: where they first went different ways, and what took longer. */
import type { RunColumns } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { columnsQuery, runsQuery, shapeQuery } from '../../api/queries.ts';
import { useSearchState } from '../../api/search-state.ts';
import { fromNow, shortId, span } from '../../parts/format.ts';
import { useNow } from '../../parts/now.tsx';
import { Card, Empty } from '../../parts/page.tsx';
import { State } from '../../parts/state.tsx';
import { lookOf, runState } from '../../parts/states.ts';
import { compareRows } from './compare-rows.ts';
import { rowsOf, type TaskRow } from './model.ts';

const SHOWN = 200;

export function Compare({ run, rows }: { readonly run: RunColumns; readonly rows: readonly TaskRow[] }) {
  const now = useNow();
  const [{ with: chosen }, change] = useSearchState();
  const others = useQuery(runsQuery({ dag: run.dag, limit: 50 })).data?.items.filter(({ id }) => id !== run.id) ?? [];
  const otherId = chosen ?? others.find(({ outcome }) => outcome === 'succeeded')?.id ?? others[0]?.id;
  const other = useQuery({ ...columnsQuery(otherId ?? ''), enabled: otherId !== undefined }).data;
  const shape = useQuery(shapeQuery(otherId ?? '', other?.columns.state.length ?? -1)).data;
  if (others.length === 0) {
    return (
      <Card>
        <Empty title="This is the only run of the DAG." />
      </Card>
    );
  }
  const { tasks, divergence } =
    other === undefined || shape == null ? { tasks: [], divergence: null } : compareRows(rows, rowsOf(other, shape));
  return (
    <Card
      title="Compare with"
      side={
        <select
          className="field"
          aria-label="The other run"
          value={otherId}
          onChange={(event) => change({ with: event.target.value })}
        >
          {others.map((one) => (
            <option key={one.id} value={one.id}>
              {shortId(one.id)} · {lookOf(runState(one)).word} · {fromNow(Date.parse(one.createdAt), now)}
            </option>
          ))}
        </select>
      }
      flush
    >
      {divergence !== null && (
        <p className="card-foot">
          First difference: <strong>{divergence.name}</strong> {lookOf(divergence.state).word.toLowerCase()} here, and{' '}
          {lookOf(divergence.otherState).word.toLowerCase()} there.
        </p>
      )}
      <div className="scroll-x">
        <table className="list compare">
          <thead>
            <tr>
              <th>Task</th>
              <th>Here</th>
              <th>There</th>
              <th className="right hide-phone">Took here</th>
              <th className="right hide-phone">Took there</th>
              <th className="right">Difference</th>
            </tr>
          </thead>
          <tbody>
            {tasks.slice(0, SHOWN).map(({ name, state, otherState, tookMs, otherMs, differenceMs }) => (
              <tr key={name}>
                <td>
                  <Link to="/runs/$id/tasks/$task" params={{ id: run.id, task: name }} className="name-link">
                    {name}
                  </Link>
                </td>
                <td>{state === null ? <span className="faint">not there</span> : <State state={state} />}</td>
                <td>{otherState === null ? <span className="faint">not there</span> : <State state={otherState} />}</td>
                <td className="right hide-phone">{tookMs === null ? '–' : span(tookMs)}</td>
                <td className="right hide-phone">{otherMs === null ? '–' : span(otherMs)}</td>
                <td className="right">
                  {differenceMs === null ? '–' : `${differenceMs < 0 ? '−' : '+'}${span(Math.abs(differenceMs))}`}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}
