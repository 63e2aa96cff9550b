/** A dialog with fields and one button that does it. What the server refuses is shown in it. */
import type { ReactNode } from 'react';
import { type Change, Refused, useChange } from '../actions/change.tsx';
import { Dialog } from './dialog.tsx';

interface FormDialogProps<T> {
  readonly title: string;
  readonly verb: string;
  readonly change: Change<T>;
  readonly isReady?: boolean;
  readonly wide?: boolean;
  /** On the button that changes nothing. */
  readonly keep?: string;
  /** It cannot be undone. */
  readonly isDangerous?: boolean;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

export function FormDialog<T>(props: FormDialogProps<T>) {
  const { title, verb, change, isReady = true, wide, keep = 'Cancel', isDangerous = false, onClose, children } = props;
  const act = useChange(
    {
      ...change,
      onDone: (answer) => {
        change.onDone?.(answer);
        onClose();
      },
    },
    true,
  );
  return (
    <Dialog
      title={title}
      onClose={onClose}
      {...(wide === undefined ? {} : { wide })}
      foot={
        <>
          <button type="button" className="button" onClick={onClose}>
            {keep}
          </button>
          <button
            type="button"
            className={isDangerous ? 'button danger primary' : 'button primary'}
            disabled={!isReady || act.isPending}
            onClick={() => act.mutate()}
          >
            {verb}
          </button>
        </>
      }
    >
      {children}
      {act.error !== null && <Refused error={act.error} />}
    </Dialog>
  );
}
