import { useQuery } from '@tanstack/react-query';
import { auditQuery, nodesQuery, storageQuery } from '../../api/queries.ts';
import { useIsInstallation, useRights, useSession } from '../../api/session.tsx';
import { actorName, bytes } from '../../parts/format.ts';
import { Ago } from '../../parts/now.tsx';
import { Card, Empty, Loaded, Page } from '../../parts/page.tsx';
import { Webhooks } from '../triggers/webhooks.tsx';
import { Tokens } from './tokens.tsx';
import { Zones } from './zones.tsx';

const SHARDS = 64;

export function SystemPage() {
  const session = useSession();
  const { isAdmin } = useRights();
  const isInstallation = useIsInstallation();
  return (
    <Page
      title="System"
      sub={session === undefined ? undefined : `Version ${session.version}, tenant ${session.tenant}`}
      actions={
        <a className="button" href="/docs">
          API reference
        </a>
      }
    >
      <Servers />
      {isInstallation && <StorageCard />}
      <Zones />
      {isAdmin ? (
        <>
          <Tokens />
          <Webhooks />
          <Audit />
        </>
      ) : (
        <Card title="Tokens and sessions">
          <p className="soft">Only admins see tokens, sessions and the audit.</p>
        </Card>
      )}
    </Page>
  );
}

function Servers() {
  const nodes = useQuery(nodesQuery());
  return (
    <Card title="Servers" flush>
      <Loaded query={nodes}>
        {({ items, unowned }) => (
          <>
            {unowned > 0 && (
              <div className="notice bad">
                {unowned} of {SHARDS} shards have no owner: their runs stand still.
              </div>
            )}
            <div className="scroll-x">
              <table className="list">
                <thead>
                  <tr>
                    <th>Server</th>
                    <th>Shards</th>
                    <th>Workers reach it at</th>
                    <th className="hide-narrow">Services and logs</th>
                    <th className="right">Clock</th>
                  </tr>
                </thead>
                <tbody>
                  {items.map((node) => (
                    <tr key={node.id}>
                      <td>
                        <span className="mono">{node.id.slice(0, 8)}</span>{' '}
                        {node.leaving && <span className="chip warn">leaving</span>}
                        {node.unfit !== null && <span className="chip bad">{node.unfit}</span>}
                      </td>
                      <td>
                        <div className="row">
                          <div className="bar slots">
                            <i className="tone-fill-ok" style={{ width: `${(node.shards / SHARDS) * 100}%` }} />
                          </div>
                          {node.shards} of {SHARDS}
                        </div>
                      </td>
                      <td className="mono">{node.address}</td>
                      <td className="mono hide-narrow">{node.dataAddress === '' ? '–' : node.dataAddress}</td>
                      <td className="right soft">{clockText(node.clockAheadMs)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          </>
        )}
      </Loaded>
    </Card>
  );
}

const SHOWN_TABLES = 8;

function StorageCard() {
  const storage = useQuery(storageQuery());
  return (
    <Card title="Storage">
      <Loaded query={storage}>
        {({ databaseBytes, tables, logBytes, disk }) => (
          <div className="stack">
            <div className="facts">
              <span>
                Database <b>{bytes(databaseBytes)}</b>
              </span>
              <span>
                Logs of this server <b>{bytes(logBytes)}</b>
              </span>
              <span title="On the disk that this server keeps its logs on">
                Free on its disk <b>{bytes(disk.freeBytes)}</b> of {bytes(disk.totalBytes)}
              </span>
            </div>
            <div className="sizes small">
              {tables.slice(0, SHOWN_TABLES).map((table) => (
                <div key={table.name} className="contents">
                  <span className="mono">{table.name}</span>
                  <div className="bar">
                    <i className="tone-fill-busy" style={{ width: `${(table.bytes / databaseBytes) * 100}%` }} />
                  </div>
                  <span className="right">{bytes(table.bytes)}</span>
                </div>
              ))}
            </div>
          </div>
        )}
      </Loaded>
    </Card>
  );
}

function clockText(aheadMs: number | null): string {
  if (aheadMs === null) return '–';
  if (Math.abs(aheadMs) < 1_000) return 'right';
  return `${(Math.abs(aheadMs) / 1000).toFixed(1)} s ${aheadMs > 0 ? 'ahead' : 'behind'}`;
}

function Audit() {
  const audit = useQuery(auditQuery());
  return (
    <Card title="Audit of credentials" flush>
      <Loaded query={audit}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="Nothing yet." />
          ) : (
            <div className="scroll-x">
              <table className="list">
                <thead>
                  <tr>
                    <th>When</th>
                    <th>Who</th>
                    <th>What</th>
                    <th>To</th>
                    <th className="hide-narrow">From</th>
                    <th>Result</th>
                  </tr>
                </thead>
                <tbody>
                  {items.map((event) => (
                    <tr key={event.id}>
                      <td className="soft">
                        <Ago at={event.at} />
                      </td>
                      <td>{event.actor === '' ? <span className="faint">unknown</span> : actorName(event.actor)}</td>
                      <td className="mono">{event.action}</td>
                      <td>{event.target}</td>
                      <td className="soft hide-narrow">{event.origin === '' ? '–' : event.origin}</td>
                      <td>{event.outcome === 'done' ? 'done' : <span className="tone-bad">{event.outcome}</span>}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )
        }
      </Loaded>
    </Card>
  );
}
