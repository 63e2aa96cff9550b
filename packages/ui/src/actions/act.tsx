/** A change to a run with a preview: the server tells what it would touch, then the person says yes. */
import type { Touched } from '@signalbox/protocol';
import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { post } from '../api/client.ts';
import { Dialog } from '../parts/dialog.tsx';
import { plural } from '../parts/format.ts';
import { StateIcon } from '../parts/state.tsx';
import { lookOf } from '../parts/states.ts';
import { Explained, useToasts } from '../parts/toasts.tsx';
import { usePreview } from './preview.ts';

export interface Action {
  readonly title: string;
  /** One sentence: what it does. */
  readonly explanation: string;
  /** On the button. */
  readonly verb: string;
  readonly done: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** It cannot be undone. */
  readonly isDangerous?: boolean;
  readonly options?: readonly Option[];
}

/** A switch that the request carries. */
export interface Option {
  readonly field: string;
  readonly label: string;
  readonly initial: boolean;
}

const SHOWN = 200;
const HOW: Readonly<Record<Touched['tasks'][number]['how'], string>> = {
  cleared: 'runs again',
  marked: 'marked',
  cancelled: 'is stopped',
  decided: 'follows from it',
  closes: 'runs to close the run',
};

/** Everything but previews: what was just done can often not be done again. */
export const readAgain = (client: QueryClient): Promise<void> =>
  client.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'preview' });

export function ActionDialog({ action, onClose }: { readonly action: Action; readonly onClose: () => void }) {
  const client = useQueryClient();
  const { tell } = useToasts();
  const [options, setOptions] = useState<Readonly<Record<string, boolean>>>(() =>
    Object.fromEntries((action.options ?? []).map(({ field, initial }) => [field, initial])),
  );
  const body = { ...action.body, ...options };
  const { path } = action;
  const preview = usePreview({ path, body, ask: () => post<Touched>(path, { ...body, dryRun: true }) });
  const act = useMutation({
    mutationFn: () => post(path, body),
    onSuccess: async () => {
      tell(action.done);
      onClose();
      await readAgain(client);
    },
  });
  return (
    <Dialog
      title={action.title}
      onClose={onClose}
      foot={
        <>
          <button type="button" className="button" onClick={onClose}>
            Close
          </button>
          <button
            type="button"
            className={action.isDangerous === true ? 'button danger primary' : 'button primary'}
            disabled={preview.data === undefined || act.isPending}
            onClick={() => act.mutate()}
          >
            {action.verb}
          </button>
        </>
      }
    >
      <p>{action.explanation}</p>
      {(action.options ?? []).map(({ field, label }) => (
        <label key={field} className="check">
          <input
            type="checkbox"
            checked={options[field] === true}
            onChange={(event) => setOptions({ ...options, [field]: event.target.checked })}
          />
          {label}
        </label>
      ))}
      {preview.error !== null && <Refusal>{<Explained error={preview.error} />}</Refusal>}
      {preview.data !== undefined && <Preview touched={preview.data} />}
      {act.error !== null && <Refusal>{<Explained error={act.error} />}</Refusal>}
    </Dialog>
  );
}

function Refusal({ children }: { readonly children: ReactNode }) {
  return (
    <div className="notice bad" role="alert">
      {children}
    </div>
  );
}

function Preview({ touched }: { readonly touched: Touched }) {
  if (touched.count === 0) return <p className="soft">No task is touched by it.</p>;
  return (
    <div className="stack tight">
      <p>
        <strong>It touches {plural(touched.count, 'task')}</strong>
        {touched.reopened && ', and the run is open again'}.
      </p>
      <ul className="preview">
        {touched.tasks.slice(0, SHOWN).map(({ task, before, after, how, stopped }) => (
          <li key={task}>
            <span className="grow truncate">{task}</span>
            <span className="small faint">{stopped === null ? HOW[how] : `attempt ${stopped} is stopped`}</span>
            <span className="nowrap" title={`${lookOf(before).word} → ${lookOf(after).word}`}>
              <StateIcon state={before} /> → <StateIcon state={after} />
            </span>
          </li>
        ))}
      </ul>
      {touched.count > SHOWN && <p className="faint small">and {plural(touched.count - SHOWN, 'more task')}</p>}
    </div>
  );
}
