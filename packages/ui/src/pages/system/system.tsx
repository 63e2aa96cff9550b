import type { AuditEventView, NodeView } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { auditQuery, nodesQuery, storageQuery } from '../../api/queries.ts';
import { useIsInstallation, useRights, useSession } from '../../api/session.tsx';
import { actorName, bytes } from '../../parts/format.ts';
import { Ago } from '../../parts/now.tsx';
import { Card, Empty, Loaded, Page } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { Settings } from './settings.tsx';
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
      <Settings />
      <Zones />
      {isAdmin ? (
        <>
          <Tokens />
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

const SERVER_COLUMNS: readonly Column<NodeView>[] = [
  {
    head: 'Server',
    cell: ({ id, leaving, unfit }) => (
      <>
        <span className="mono">{id.slice(0, 8)}</span> {leaving && <span className="chip warn">leaving</span>}
        {unfit !== null && <span className="chip bad">{unfit}</span>}
      </>
    ),
  },
  { head: 'Version', label: 'Version', cell: ({ version }) => version ?? <span className="faint">unknown</span> },
  {
    head: 'Shards',
    label: 'Shards',
    cell: ({ shards }) => (
      <div className="row">
        <div className="bar slots">
          <i className="tone-fill-ok" style={{ width: `${(shards / SHARDS) * 100}%` }} />
        </div>
        <span className="nowrap">
          {shards} of {SHARDS}
        </span>
      </div>
    ),
  },
  { head: 'Workers reach it at', label: 'Workers', look: 'mono', cell: ({ address }) => address },
  {
    head: 'Services and logs',
    place: 'hide-narrow',
    look: 'mono',
    cell: ({ dataAddress }) => (dataAddress === '' ? '–' : dataAddress),
  },
  {
    head: 'Clock',
    place: 'right',
    label: 'Clock',
    look: 'soft',
    cell: ({ clockAheadMs }) => clockText(clockAheadMs),
  },
];

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
            <DifferentVersions nodes={items} />
            <Table isStacked rows={items} keyOf={({ id }) => id} columns={SERVER_COLUMNS} />
          </>
        )}
      </Loaded>
    </Card>
  );
}

function DifferentVersions({ nodes }: { readonly nodes: readonly NodeView[] }) {
  const counts = new Map<string, number>();
  for (const { version } of nodes) counts.set(version ?? 'unknown', (counts.get(version ?? 'unknown') ?? 0) + 1);
  if (counts.size < 2) return null;
  const each = [...counts].sort(([a], [b]) => a.localeCompare(b)).map(([version, count]) => `${version} on ${count}`);
  return (
    <div className="notice warn">
      Servers run different versions: {each.join(', ')}. That is normal during an upgrade. Afterwards, stop the old
      ones.
    </div>
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
                    <i
                      className="tone-fill-busy"
                      style={{ width: `${(table.bytes / (tables[0]?.bytes ?? 1)) * 100}%` }}
                    />
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
  if (Math.abs(aheadMs) < 1_000) return 'accurate';
  return `${(Math.abs(aheadMs) / 1000).toFixed(1)} s ${aheadMs > 0 ? 'ahead' : 'behind'}`;
}

const AUDIT_COLUMNS: readonly Column<AuditEventView>[] = [
  { head: 'When', look: 'soft', cell: ({ at }) => <Ago at={at} /> },
  {
    head: 'Who',
    look: 'breaks',
    title: ({ actor }) => actor,
    cell: ({ actor }) => (actor === '' ? <span className="faint">unknown</span> : actorName(actor)),
  },
  { head: 'What', look: 'mono', cell: ({ action }) => action },
  { head: 'To', look: 'breaks', cell: ({ target }) => target },
  { head: 'From', place: 'hide-narrow', look: 'soft breaks', cell: ({ origin }) => (origin === '' ? '–' : origin) },
  {
    head: 'Result',
    cell: ({ outcome }) => (outcome === 'done' ? 'done' : <span className="tone-bad">{outcome}</span>),
  },
];

function Audit() {
  const audit = useQuery(auditQuery());
  return (
    <Card title="Audit of credentials" flush>
      <Loaded query={audit}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="Nothing yet." />
          ) : (
            <Table isStacked rows={items} keyOf={({ id }) => String(id)} columns={AUDIT_COLUMNS} />
          )
        }
      </Loaded>
    </Card>
  );
}
