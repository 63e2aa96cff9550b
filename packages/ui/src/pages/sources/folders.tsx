/** Folders that the server watches for new files. Only its configuration names them. */
import type { WatchedFolderView } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { foldersQuery } from '../../api/queries.ts';
import { count } from '../../parts/format.ts';
import { Ago } from '../../parts/now.tsx';
import { Card, Empty, Loaded } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/table.tsx';

export function Folders() {
  const folders = useQuery(foldersQuery());
  return (
    <Card title="Watched folders" flush>
      <Loaded query={folders}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty title="This server watches no folder.">
              <span>Name folders when you start it. Each new file is an event.</span>
              <code>SIGNALBOX_WATCH_FOLDERS=orders=/srv/orders</code>
            </Empty>
          ) : (
            <Table isStacked rows={items} keyOf={({ name }) => name} columns={COLUMNS} />
          )
        }
      </Loaded>
    </Card>
  );
}

const COLUMNS: readonly Column<WatchedFolderView>[] = [
  {
    head: 'Folder',
    cell: ({ name, problem }) => (
      <>
        <b>{name}</b>
        {problem !== null && <div className="small tone-bad">{problem}</div>}
      </>
    ),
  },
  { head: 'Path on this server', look: 'mono', cell: ({ path }) => path },
  { head: 'Source of its events', place: 'hide-narrow', look: 'mono soft', cell: ({ source }) => source },
  { head: 'Files', place: 'right', label: 'Files', cell: ({ files }) => count(files) },
  {
    head: 'Last new file',
    label: 'Last',
    cell: ({ lastFile, lastFileAt }) =>
      lastFile === null ? (
        <span className="faint">none since the server started</span>
      ) : (
        <>
          {lastFile}
          <div className="small faint">
            <Ago at={lastFileAt} />
          </div>
        </>
      ),
  },
  { head: 'Looked at', place: 'right hide-narrow', look: 'soft', cell: ({ lookedAt }) => <Ago at={lookedAt} /> },
];
