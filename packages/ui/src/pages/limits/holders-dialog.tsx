/** The tasks that have slots of a limit, and since when. */
import type { SlotHolderView } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { limitQuery } from '../../api/queries.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { count, plural } from '../../parts/format.ts';
import { Ago } from '../../parts/now.tsx';
import { Empty, Loaded } from '../../parts/page.tsx';
import { type Column, Table } from '../../parts/table.tsx';

export function HoldersDialog({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const limit = useQuery(limitQuery(name));
  return (
    <Dialog title={`Slots of ${name}`} onClose={onClose}>
      <Loaded query={limit}>
        {({ used, slots, waiting, holders }) => (
          <>
            <p>
              {count(used)} of {plural(slots, 'slot')} {used === 1 ? 'is' : 'are'} in use; tasks that wait would take{' '}
              {count(waiting)} more.
            </p>
            {holders.length === 0 ? (
              <Empty title="No task has a slot." />
            ) : (
              <Table rows={holders} keyOf={({ run, task, attempt }) => `${run} ${task} ${attempt}`} columns={COLUMNS} />
            )}
          </>
        )}
      </Loaded>
    </Dialog>
  );
}

const COLUMNS: readonly Column<SlotHolderView>[] = [
  {
    head: 'Task',
    cell: ({ dag, task, run }) => (
      <Link to="/runs/$id" params={{ id: run }} className="name-link">
        {dag} / {task}
      </Link>
    ),
  },
  { head: 'Slots', place: 'right', cell: ({ slots }) => count(slots) },
  { head: 'Since', look: 'soft nowrap', cell: ({ since }) => <Ago at={since} /> },
];
