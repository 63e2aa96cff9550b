/** What can be done to many runs at once: one button, because the lists of runs have little room beside their filters. */
import { type ReactNode, useState } from 'react';
import { CancelRunsDialog } from './cancel-runs.tsx';
import { useReason } from './change.tsx';
import { ClearRunsDialog } from './clear-runs.tsx';
import { Menu } from './menu.tsx';
import { PrioritiesDialog } from './priority.tsx';
import type { ManyRunsProps } from './runs-by-filter.tsx';

interface MenuProps extends ManyRunsProps {
  /** Whether the list is one of runs that have not ended. */
  readonly hasOpen: boolean;
  /** Whether it is the list of one DAG, and not one that is narrowed to it. */
  readonly isOfDag: boolean;
}

export function ManyRunsMenu({ dag, state, hasOpen, isOfDag }: MenuProps) {
  const [open, setOpen] = useState<'clear' | 'priorities' | 'cancel' | null>(null);
  const reason = useReason();
  const item = (label: string, which: typeof open, isDanger = false) => ({
    label,
    disabled: reason !== undefined,
    title: reason,
    isDanger,
    onChoose: () => setOpen(which),
  });
  const items = [
    ...(isOfDag ? [item('Rerun failed tasks …', 'clear')] : []),
    ...(hasOpen ? [item('Change priorities …', 'priorities'), item('Cancel runs …', 'cancel', true)] : []),
  ];
  const close = () => setOpen(null);
  const many = { dag, state, onClose: close };
  const dialogs: Readonly<Record<NonNullable<typeof open>, ReactNode>> = {
    clear: dag !== undefined && <ClearRunsDialog dag={dag} onClose={close} />,
    priorities: <PrioritiesDialog {...many} />,
    cancel: <CancelRunsDialog {...many} />,
  };
  if (items.length === 0) return null;
  return (
    <>
      <Menu label="Many runs …" items={items}>
        Many runs …
      </Menu>
      {open !== null && dialogs[open]}
    </>
  );
}
