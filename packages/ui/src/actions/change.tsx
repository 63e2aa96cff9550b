/** Changes that need no preview: at once where they can be undone, after a question where they cannot. */
import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useRights } from '../api/session.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Explained, useToasts } from '../parts/toasts.tsx';

/** Who may press a button; a viewer what only shows. */
type Needs = 'viewer' | 'operator' | 'admin';

export interface Change<T = unknown> {
  readonly run: () => Promise<T>;
  /** Said when it is done. */
  readonly done?: ReactNode;
  /** First words of the keys of what must be read again. */
  readonly touches: readonly string[] | 'everything';
  readonly onDone?: (answer: T) => void;
}

/** Mutates, reads again what it touched, and says so. */
export function useChange<T>({ run, done, touches, onDone }: Change<T>, isSilent = false) {
  const client = useQueryClient();
  const { tell, fail } = useToasts();
  return useMutation({
    mutationFn: run,
    onSuccess: async (answer) => {
      if (done !== undefined) tell(done);
      onDone?.(answer);
      await client.invalidateQueries(
        touches === 'everything' ? {} : { predicate: ({ queryKey }) => startsWith(queryKey, touches) },
      );
    },
    // A dialog shows the refusal itself.
    ...(isSilent ? {} : { onError: fail }),
  });
}

const startsWith = ([first]: QueryKey, words: readonly string[]): boolean => words.includes(String(first));

interface ChangeButtonProps extends Change {
  readonly children: ReactNode;
  readonly label?: string;
  readonly title?: string | undefined;
  readonly className?: string;
  readonly needs?: Needs;
  readonly disabled?: boolean;
}

export function ChangeButton(props: ChangeButtonProps) {
  const { children, label, title, className = 'button small', needs, disabled = false, ...change } = props;
  const act = useChange(change);
  const reason = useReason(needs);
  return (
    <button
      type="button"
      className={className}
      disabled={disabled || reason !== undefined || act.isPending}
      title={reason ?? title}
      aria-label={label}
      onClick={() => act.mutate()}
    >
      {children}
    </button>
  );
}

/** Why the viewer may not; undefined if they may. */
export function useReason(needs: Needs = 'operator'): string | undefined {
  const { mayOperate, isAdmin, reason } = useRights();
  if (needs === 'viewer') return undefined;
  if (needs === 'operator') return mayOperate ? undefined : (reason ?? 'Your role is not known yet.');
  return isAdmin ? undefined : (reason ?? 'Only admins may do this.');
}

interface ConfirmProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly verb: string;
  readonly keep?: string;
  readonly change: Change;
  readonly onClose: () => void;
}

/** For what cannot be undone. */
export function Confirm({ title, children, verb, keep = 'Keep it', change, onClose }: ConfirmProps) {
  const act = useChange({ ...change, onDone: onClose }, true);
  return (
    <Dialog
      title={title}
      onClose={onClose}
      foot={
        <>
          <button type="button" className="button" onClick={onClose}>
            {keep}
          </button>
          <button type="button" className="button danger primary" disabled={act.isPending} onClick={() => act.mutate()}>
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

interface ConfirmButtonProps extends Omit<ConfirmProps, 'onClose'> {
  readonly button: ReactNode;
  readonly label?: string;
  readonly needs?: Needs;
  readonly className?: string;
}

export function ConfirmButton(props: ConfirmButtonProps) {
  const { button, className = 'button small danger', label, needs, ...confirm } = props;
  return (
    <OpenButton
      {...{ className, ...(label === undefined ? {} : { label }), ...(needs === undefined ? {} : { needs }) }}
      dialog={(onClose) => <Confirm {...confirm} onClose={onClose} />}
    >
      {button}
    </OpenButton>
  );
}

/** A button that opens a dialog which changes something. */
export function OpenButton({
  children,
  label,
  needs,
  className = 'button small',
  dialog,
}: {
  readonly children: ReactNode;
  readonly label?: string;
  readonly needs?: Needs;
  readonly className?: string;
  readonly dialog: (onClose: () => void) => ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  const reason = useReason(needs);
  return (
    <>
      <button
        type="button"
        className={className}
        disabled={reason !== undefined}
        title={reason}
        aria-label={label}
        onClick={() => setOpen(true)}
      >
        {children}
      </button>
      {isOpen && dialog(() => setOpen(false))}
    </>
  );
}

export function Refused({ error }: { readonly error: unknown }) {
  return (
    <div className="notice bad" role="alert">
      <Explained error={error} />
    </div>
  );
}
