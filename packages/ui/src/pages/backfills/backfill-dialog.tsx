/** Starts a backfill: first what it would do, then yes. */
import type { BackfillPreview, BackfillView, SchedulePage } from '@signalbox/protocol';
import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Refused, useChange } from '../../actions/change.tsx';
import { post, seg } from '../../api/client.ts';
import { schedulesOfDagQuery } from '../../api/queries.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { ChoiceField, TextField } from '../../parts/field.tsx';
import { plural, shortId } from '../../parts/format.ts';
import { Time } from '../../parts/now.tsx';
import { StateIcon } from '../../parts/state.tsx';
import { isoOf } from './range.ts';

const WHICH = {
  missing: 'windows without a run',
  failed: 'windows whose newest run failed',
  all: 'all windows, again',
} as const;
const ORDERS = { forward: 'oldest first', backward: 'newest first' } as const;
const ACTIONS: Readonly<Record<BackfillPreview['items'][number]['action'], string>> = {
  create: 'gets a run',
  again: 'gets another run',
  skip: 'needs none',
};
const SHOWN = 100;
const DAY_MS = 86_400_000;

const dayText = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

export function BackfillDialog({ dag, onClose }: { readonly dag: string; readonly onClose: () => void }) {
  const schedules = useQuery(schedulesOfDagQuery(dag)).data?.items;
  if (schedules === undefined) {
    return (
      <Dialog title={`Backfill of ${dag}`} onClose={onClose}>
        <div className="loading">Loading …</div>
      </Dialog>
    );
  }
  if (schedules.length === 0) {
    return (
      <Dialog title={`Backfill of ${dag}`} onClose={onClose}>
        <p>A backfill creates runs for past windows of a schedule. This DAG has no schedule.</p>
      </Dialog>
    );
  }
  return <BackfillForm dag={dag} schedules={schedules} onClose={onClose} />;
}

interface BackfillFormProps {
  readonly dag: string;
  readonly schedules: SchedulePage['items'];
  readonly onClose: () => void;
}

function BackfillForm({ dag, schedules, onClose }: BackfillFormProps) {
  const [schedule, setSchedule] = useState(schedules[0]?.name ?? 'default');
  const [from, setFrom] = useState(() => dayText(Date.now() - 7 * DAY_MS));
  const [to, setTo] = useState('');
  const [which, setWhich] = useState<keyof typeof WHICH>('missing');
  const [order, setOrder] = useState<keyof typeof ORDERS>('forward');
  const [until, setUntil] = useState('');
  const [maxActive, setMaxActive] = useState('4');
  const [share, setShare] = useState('5');
  const [begin, end] = [isoOf(from), to.trim() === '' ? undefined : isoOf(to)];
  const faults = {
    from: begin === null ? 'must be a day or a time, such as 2027-03-01 or 2027-03-01T06:00:00Z' : undefined,
    to: end === null ? 'must be a day or a time, such as 2027-03-31' : undefined,
  };
  const body = {
    schedule,
    from: begin,
    ...(end === undefined ? {} : { to: end }),
    which,
    order,
    ...(until.trim() === '' ? {} : { until: until.trim() }),
    maxActive: Number(maxActive),
    share: Number(share) / 100,
  };
  const path = `/v1/dags/${seg(dag)}/backfills`;
  const text = JSON.stringify(body);
  // Kept with what it was made for: what is changed afterwards must be looked at again.
  const preview = useMutation({
    mutationFn: async () => ({ text, preview: await post<BackfillPreview>(`${path}/preview`, body) }),
  });
  const seen = preview.data?.text === text ? preview.data.preview : undefined;
  const start = useChange(
    {
      run: () => post<BackfillView>(path, body),
      done: 'The backfill has started.',
      touches: ['backfills', 'runs', 'run-pages'],
      onDone: onClose,
    },
    true,
  );
  const isValid = begin !== null && end !== null;
  return (
    <Dialog
      title={`Backfill of ${dag}`}
      onClose={onClose}
      wide
      foot={
        <>
          <button type="button" className="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="button"
            className={seen === undefined ? 'button primary' : 'button'}
            disabled={!isValid || preview.isPending}
            onClick={() => preview.mutate()}
          >
            Preview
          </button>
          <button
            type="button"
            className={seen === undefined ? 'button' : 'button primary'}
            disabled={seen === undefined || seen.toCreate === 0 || start.isPending}
            title={seen === undefined ? 'Look at the preview first' : undefined}
            onClick={() => start.mutate()}
          >
            {seen === undefined ? 'Start' : `Start ${plural(seen.toCreate, 'run')}`}
          </button>
        </>
      }
    >
      <div className="form-grid">
        {schedules.length > 1 && (
          <ChoiceField
            label="Schedule"
            value={schedule}
            choices={Object.fromEntries(schedules.map(({ name }) => [name, name]))}
            onChange={setSchedule}
          />
        )}
        <TextField label="From" value={from} onChange={setFrom} fault={faults.from} hint="Days are those of UTC." />
        <TextField label="To" value={to} onChange={setTo} fault={faults.to} placeholder="now" />
        <ChoiceField label="Which windows" value={which} choices={WHICH} onChange={setWhich} />
        <ChoiceField label="Order" value={order} choices={ORDERS} onChange={setOrder} />
        <TextField label="Runs at a time" value={maxActive} onChange={setMaxActive} />
        <TextField
          label="Share of the slots, %"
          value={share}
          onChange={setShare}
          hint="While other tasks wait for the same queue."
        />
        <TextField label="Up to the task" value={until} onChange={setUntil} placeholder="the whole run" />
      </div>
      {seen !== undefined && <Preview preview={seen} />}
      {preview.error !== null && <Refused error={preview.error} />}
      {start.error !== null && <Refused error={start.error} />}
    </Dialog>
  );
}

function Preview({ preview }: { readonly preview: BackfillPreview }) {
  return (
    <div className="stack tight" role="status">
      <p>
        <strong>
          {plural(preview.windows, 'window')}, {plural(preview.toCreate, 'run')} to create.
        </strong>
      </p>
      <ul className="preview">
        {preview.items.slice(0, SHOWN).map(({ at, action, run, outcome }) => (
          <li key={at}>
            <span className="grow">
              <Time at={at} />
            </span>
            <span className={action === 'skip' ? 'small faint' : 'small'}>{ACTIONS[action]}</span>
            {run !== null && (
              <span className="nowrap">
                <StateIcon state={outcome ?? 'running'} size={12} />{' '}
                <Link to="/runs/$id" params={{ id: run }} className="mono">
                  {shortId(run)}
                </Link>
              </span>
            )}
          </li>
        ))}
      </ul>
      {preview.items.length > SHOWN && (
        <p className="small faint">and {plural(preview.items.length - SHOWN, 'more window')}</p>
      )}
    </div>
  );
}
