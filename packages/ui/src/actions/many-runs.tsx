/** What can be done to many runs at once: one button, because the lists of runs have little room beside their filters. */
import { type ReactNode, useState } from 'react';
import { CancelRunsDialog } from './cancel-runs.tsx';
import { useReason } from './change.tsx';
import { Menu } from './menu.tsx';
import { PrioritiesDialog } from './priority.tsx';
import { RetryRunsDialog } from './retry-runs.tsx';
import type { ManyRunsProps } from './runs-by-filter.tsx';

interface MenuProps extends ManyRunsProps {
  /** Whether the list is one of runs that have not ended. */
  readonly hasOpen: boolean;
  /** Whether the list is one of runs that may have failed. */
  readonly hasFailed: boolean;
}

export function ManyRunsMenu({ dag, state, hasOpen, hasFailed }: MenuProps) {
  const [open, setOpen] = useState<'retry' | 'priorities' | 'cancel' | null>(null);
  const reason = useReason();
  const item = (label: string, which: typeof open, isDanger = false) => ({
    label,
    disabled: reason !== undefined,
    title: reason,
    isDanger,
    onChoose: () => setOpen(which),
  });
  const items = [
    ...(hasFailed ? [item('Retry failed …', 'retry')] : []),
    ...(hasOpen ? [item('Change priorities …', 'priorities'), item('Cancel runs …', 'cancel', true)] : []),
  ];
  const close = () => setOpen(null);
  const many = { dag, state, onClose: close };
  const dialogs: Readonly<Record<NonNullable<typeof open>, ReactNode>> = {
    retry: <RetryRunsDialog dag={dag} onClose={close} />,
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
