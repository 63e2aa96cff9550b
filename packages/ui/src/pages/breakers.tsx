import type { BreakerReset, BreakerView } from '@signalbox/protocol';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { post } from '../api/client.ts';
import { breakersQuery } from '../api/queries.ts';
import { useRights } from '../api/session.tsx';
import { DagLink } from '../parts/dag-link.tsx';
import { ErrorLine } from '../parts/error-line.tsx';
import { Ago } from '../parts/now.tsx';
import { Card, Empty, Loaded, Page } from '../parts/page.tsx';
import { useToasts } from '../parts/toasts.tsx';

export function BreakersPage() {
  const breakers = useQuery(breakersQuery());
  return (
    <Page
      title="Breakers"
      sub="A breaker holds tasks back while nearly all of them fail, tries one now and then, and lets go when it succeeds."
    >
      <Card flush>
        <Loaded query={breakers}>
          {({ items }) =>
            items.length === 0 ? (
              <Empty title="No breaker is open." />
            ) : (
              <div className="scroll-x">
                <table className="list">
                  <thead>
                    <tr>
                      <th>State</th>
                      <th>DAG</th>
                      <th>Holds</th>
                      <th>Error</th>
                      <th>Open since</th>
                      <th>Next try</th>
                      <th>
                        <span className="visually-hidden">Actions</span>
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {items.map((breaker) => (
                      <Row key={`${breaker.dag} ${breaker.fingerprint ?? ''}`} breaker={breaker} />
                    ))}
                  </tbody>
                </table>
              </div>
            )
          }
        </Loaded>
      </Card>
    </Page>
  );
}

function Row({ breaker }: { readonly breaker: BreakerView }) {
  const client = useQueryClient();
  const { tell, fail } = useToasts();
  const { mayOperate, reason } = useRights();
  const { dag, fingerprint, state } = breaker;
  const reset = useMutation({
    mutationFn: () => post<BreakerReset>('/v1/breakers/reset', { dag, fingerprint }),
    onSuccess: async () => {
      tell(`The breaker of ${dag} lets go. It opens again if the failures go on.`);
      await client.invalidateQueries({ queryKey: ['breakers'] });
    },
    onError: fail,
  });
  return (
    <tr>
      <td>
        <span className={state === 'open' ? 'chip bad' : 'chip warn'}>{state === 'open' ? 'open' : 'letting go'}</span>
      </td>
      <td>
        <DagLink name={dag} />
      </td>
      <td>{fingerprint === null ? 'new tasks of the DAG' : 'retries of this error'}</td>
      <td className="breaker-error">
        <ErrorLine text={breaker.error} />
      </td>
      <td className="soft">
        <Ago at={breaker.openedAt} />
      </td>
      <td className="soft">
        <Ago at={breaker.probeAt} />
      </td>
      <td className="right">
        <button
          type="button"
          className="button small"
          disabled={!mayOperate || reset.isPending}
          title={reason}
          onClick={() => reset.mutate()}
        >
          Reset
        </button>
      </td>
    </tr>
  );
}
