/** A button that starts a run, with a dialog for its params. */
import type { DagDetails, Submitted } from '@signalbox/protocol';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { post, seg } from '../api/client.ts';
import { dagQuery } from '../api/queries.ts';
import { useRights } from '../api/session.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { TextField } from '../parts/field.tsx';
import { Loaded } from '../parts/page.tsx';
import { Explained } from '../parts/toasts.tsx';
import { visible } from '../parts/visible.ts';
import { Icon } from '../shell/icons.tsx';
import { type EditedParams, ParamsEditor } from './params-editor.tsx';
import { fieldsOf, readFields, type Schema, textsOf } from './schema-form.ts';

export function TriggerButton({ dag, small = false }: { readonly dag: string; readonly small?: boolean }) {
  const [isOpen, setOpen] = useState(false);
  const { mayOperate, reason } = useRights();
  return (
    <>
      <button
        type="button"
        className={small ? 'button small' : 'button primary'}
        disabled={!mayOperate}
        title={reason}
        aria-label={small ? `Trigger ${dag}` : undefined}
        onClick={() => setOpen(true)}
      >
        <Icon name="play" size={13} />
        <span className={small ? 'hide-phone' : undefined}>Trigger</span>
      </button>
      {isOpen && <TriggerDialog dag={dag} onClose={() => setOpen(false)} />}
    </>
  );
}

function TriggerDialog({ dag, onClose }: { readonly dag: string; readonly onClose: () => void }) {
  const details = useQuery(dagQuery(dag));
  if (details.data !== undefined) return <TriggerForm dag={details.data} onClose={onClose} />;
  return (
    <Dialog title={`Trigger ${dag}`} onClose={onClose}>
      <Loaded query={details}>{() => null}</Loaded>
    </Dialog>
  );
}

const PRIORITIES = ['critical', 'high', 'normal', 'low'] as const;

function TriggerForm({ dag, onClose }: { readonly dag: DagDetails; readonly onClose: () => void }) {
  const navigate = useNavigate();
  const schema = dag.params as Schema | boolean | null;
  const [edited, setEdited] = useState<EditedParams>(() => startOf(schema));
  const [later, setLater] = useState('');
  const [priority, setPriority] = useState<string>(dag.priority);
  const submit = useMutation({
    mutationFn: () =>
      post<Submitted>(`/v1/dags/${seg(dag.name)}/runs`, {
        params: edited.params ?? null,
        priority,
        ...laterOf(later),
      }),
    onSuccess: ({ id }) => {
      onClose();
      void navigate({ to: '/runs/$id', params: { id } });
    },
  });
  return (
    <Dialog
      title={`Trigger ${dag.name}`}
      onClose={onClose}
      foot={
        <>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="button"
            className="button primary"
            disabled={!edited.isValid || submit.isPending}
            onClick={() => submit.mutate()}
          >
            Start run
          </button>
        </>
      }
    >
      {dag.description !== null && <p className="soft">{visible(dag.description)}</p>}
      <ParamsEditor schema={schema} initial={null} onChange={setEdited} />
      <label className="form">
        <span>Priority</span>
        <select className="field" value={priority} onChange={(event) => setPriority(event.target.value)}>
          {PRIORITIES.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
      <TextField
        label="Start"
        value={later}
        onChange={setLater}
        placeholder="now"
        hint="Later: a delay such as 10m or 2h, or a time such as 2030-01-01T09:00:00Z."
      />
      {submit.error !== null && (
        <div className="notice bad" role="alert">
          <Explained error={submit.error} />
        </div>
      )}
    </Dialog>
  );
}

/** What the server says about anything else is shown. */
function laterOf(text: string): Readonly<Record<string, string>> {
  const wanted = text.trim();
  if (wanted === '' || wanted === 'now') return {};
  return /^\d{4}-/.test(wanted) ? { at: wanted } : { delay: wanted };
}

/** A form that needs nothing can be sent as it is; so can no params where there is no form. */
function startOf(schema: Schema | boolean | null): EditedParams {
  const fields = fieldsOf(schema);
  if (fields === null) return { params: null, isValid: true };
  const read = readFields(fields, textsOf(fields, null));
  return 'params' in read ? { params: read.params, isValid: true } : { params: undefined, isValid: false };
}
