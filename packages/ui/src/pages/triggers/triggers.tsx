/** What starts runs of a dag beside its schedules: events that its triggers take, and webhooks that make such events. */
import type { DagDetails, SentEvent, TriggerView } from '@signalbox/protocol';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { OpenButton, Refused, useChange } from '../../actions/change.tsx';
import { post } from '../../api/client.ts';
import { useRights } from '../../api/session.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { TextField } from '../../parts/field.tsx';
import { plural, shortId, span } from '../../parts/format.ts';
import { Block, Json } from '../../parts/json.tsx';
import { Card, Empty } from '../../parts/page.tsx';
import { readRaw } from '../../trigger/schema-form.ts';
import { Expected } from '../sources/expected.tsx';
import { Webhooks } from './webhooks.tsx';

const EXAMPLE = `on:
  type: order.paid
  where: event.data.total > 100
  params: { order: '\${{ event.data.id }}' }`;

export function Triggers({ dag }: { readonly dag: DagDetails }) {
  const { isAdmin } = useRights();
  const taken = dag.triggers.find(({ assets }) => assets === undefined);
  return (
    <>
      <Card
        title="Triggers"
        side={taken !== undefined && <SendButton dag={dag.name} type={exampleType(taken)} />}
        flush
      >
        {dag.triggers.length === 0 ? (
          <Empty title="No event starts runs of this DAG.">
            <span>Give its definition a trigger:</span>
            <Block text={EXAMPLE} language="hash" />
          </Empty>
        ) : (
          <ul className="rows">
            {dag.triggers.map((trigger) => (
              <li key={trigger.name} className="trigger">
                <Trigger trigger={trigger} />
              </li>
            ))}
          </ul>
        )}
      </Card>
      <Expected dag={dag.name} />
      {isAdmin ? (
        <Webhooks dag={dag.name} />
      ) : (
        <Card title="Webhooks">
          <p className="soft">Only admins see webhooks.</p>
        </Card>
      )}
    </>
  );
}

/** `order.*` takes any type that begins so. */
const exampleType = (trigger: TriggerView): string => trigger.type.replace(/\*$/, 'example');

/** It takes no events: runs of other dags make it fire. */
function AssetTrigger({
  name,
  assets,
}: {
  readonly name: string;
  readonly assets: NonNullable<TriggerView['assets']>;
}) {
  return (
    <div>
      <b>{name}</b> fires when {assets.mode === 'all' ? 'all of' : 'any of'} <code>{assets.names.join(', ')}</code>{' '}
      {assets.mode === 'all' ? 'were produced since the last such run' : 'is produced'}
    </div>
  );
}

function Trigger({ trigger }: { readonly trigger: TriggerView }) {
  if (trigger.assets !== undefined) return <AssetTrigger name={trigger.name} assets={trigger.assets} />;
  const { name, type, source, where, params, dedupe, batch, debounce } = trigger;
  return (
    <>
      <div>
        <b>{name}</b>
        {name !== type && (
          <>
            {' '}
            takes <code>{type}</code>
          </>
        )}
        {source !== undefined && (
          <>
            {' '}
            from <code>{source}</code>
          </>
        )}
        {where !== undefined && (
          <>
            {' '}
            if <code>{where}</code>
          </>
        )}
      </div>
      <div className="small soft">
        {batch !== undefined &&
          `One run for up to ${plural(batch.max, 'event')} within ${span(batch.withinMs)}${keyed(batch.key)}. `}
        {debounce !== undefined &&
          `One run when no event has come for ${span(debounce.waitMs)}, at the latest after ${span(debounce.atMostMs)}${keyed(debounce.key)}. `}
        {dedupe !== undefined && `Events with the same ${dedupe} start one run. `}
        {params === undefined && 'The data of the event are the params of the run.'}
      </div>
      {params !== undefined && <Json value={params} />}
    </>
  );
}

const keyed = (key: string | undefined): string => (key === undefined ? '' : `, for each ${key}`);

function SendButton({ dag, type }: { readonly dag: string; readonly type: string }) {
  return (
    <OpenButton dialog={(onClose) => <SendDialog dag={dag} type={type} onClose={onClose} />}>
      Send an event …
    </OpenButton>
  );
}

interface SendDialogProps {
  readonly dag: string;
  readonly type: string;
  readonly onClose: () => void;
}

function SendDialog({ dag, type: first, onClose }: SendDialogProps) {
  const [type, setType] = useState(first);
  const [source, setSource] = useState('/web-ui');
  const [text, setText] = useState('{}');
  const read = readRaw(text);
  const send = useChange(
    {
      run: () => post<SentEvent>('/v1/events', { ...event(type, source), data: 'params' in read ? read.params : null }),
      touches: ['runs', 'run-pages', 'dag'],
    },
    true,
  );
  return (
    <Dialog
      title="Send an event"
      onClose={onClose}
      foot={
        <>
          <button type="button" className="button" onClick={onClose}>
            Close
          </button>
          <button
            type="button"
            className="button primary"
            disabled={type === '' || source === '' || 'fault' in read || send.isPending}
            onClick={() => send.mutate()}
          >
            Send
          </button>
        </>
      }
    >
      <p className="soft">It goes to the triggers of all DAGs that take its type.</p>
      <TextField label="Type" value={type} onChange={setType} isMono />
      <TextField label="Source" value={source} onChange={setSource} isMono />
      <TextField
        label="Data as JSON"
        value={text}
        onChange={setText}
        rows={5}
        isMono
        fault={'fault' in read ? read.fault : undefined}
      />
      {send.data !== undefined && <Sent dag={dag} sent={send.data} />}
      {send.error !== null && <Refused error={send.error} />}
    </Dialog>
  );
}

/** `specversion` makes it a CloudEvent. A new id: what is sent twice here is meant twice. */
function event(type: string, source: string) {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  const id = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
  return { specversion: '1.0', id, type, source };
}

/** What became of it, and why a trigger did not take it. */
function Sent({ dag, sent }: { readonly dag: string; readonly sent: SentEvent }) {
  const reasons = (sent.unmatched ?? []).filter((one) => one.dag === dag);
  return (
    <div className="notice" role="status">
      <div>
        {sent.runs.length === 0 && <b>It started no run.</b>}
        {sent.runs.map((run) => (
          <div key={run.id}>
            {run.dag}:{' '}
            {run.held === true ? (
              'it waits for more events'
            ) : (
              <Link to="/runs/$id" params={{ id: run.id }}>
                run {shortId(run.id)}
              </Link>
            )}
          </div>
        ))}
        {reasons.map(({ trigger, reason }) => (
          <div key={trigger} className="small soft">
            {trigger}: {reason}
          </div>
        ))}
        {(sent.refused ?? []).map((one) => (
          <div key={one.dag} className="small tone-bad">
            {one.dag} does not accept the params:{' '}
            {one.problems.map(({ path, message }) => `${path} ${message}`).join(', ')}
          </div>
        ))}
      </div>
    </div>
  );
}
