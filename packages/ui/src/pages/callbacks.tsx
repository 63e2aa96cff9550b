/** Calls that tell the outside that a run has ended: sent, waiting, or given up. */
import type { CallbackPage, CallbackSecret, CallbacksRepeated } from '@signalbox/protocol';
import { CALLBACK_STATES } from '@signalbox/protocol/words';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { ChangeButton, OpenButton } from '../actions/change.tsx';
import { get, post, seg } from '../api/client.ts';
import { callbackPagesQuery } from '../api/queries.ts';
import { useSearchState } from '../api/search-state.ts';
import { DagLink } from '../parts/dag-link.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { ChoiceFilter } from '../parts/filters.tsx';
import { count, shortId } from '../parts/format.ts';
import { Block, ToCopy } from '../parts/json.tsx';
import { Ago } from '../parts/now.tsx';
import { Card, Empty, Loaded, Page } from '../parts/page.tsx';
import { Paged } from '../parts/paged.tsx';
import { State } from '../parts/state.tsx';
import { actionsOf, type Column, Table } from '../parts/table.tsx';

type CallbackView = CallbackPage['items'][number];

/** No event tells that a call was answered. */
const CALLS_MS = 5_000;
const EXAMPLE = 'callbackUrl: https://example.com/runs';

const STATES: Readonly<Record<CallbackView['state'], readonly [word: string, look: string]>> = {
  waiting: ['waiting', 'chip busy'],
  done: ['answered', 'chip ok'],
  given_up: ['given up', 'chip bad'],
};

export function CallbacksPage() {
  const [{ state }] = useSearchState();
  const known = CALLBACK_STATES.find((one) => one === state);
  const pages = useInfiniteQuery({ ...callbackPagesQuery(known), refetchInterval: CALLS_MS });
  return (
    <Page
      title="Callbacks"
      sub="A DAG or job with a callback URL has it called when a run ends. A call that is not answered with 2xx is repeated for about two days."
      actions={
        <OpenButton needs="admin" className="button" dialog={(onClose) => <SecretDialog onClose={onClose} />}>
          Show the secret …
        </OpenButton>
      }
    >
      <div className="toolbar">
        <ChoiceFilter
          name="state"
          label="Only calls in this state"
          all="All calls"
          choices={CALLBACK_STATES}
          word={(one) => STATES[one as CallbackView['state']][0]}
        />
      </div>
      <Card flush>
        <Paged
          query={pages}
          more="Older calls"
          empty={
            known === undefined ? (
              <Empty title="No calls yet.">
                <span>Give a DAG an address that is called when its runs end:</span>
                <Block text={EXAMPLE} language="hash" />
              </Empty>
            ) : (
              <Empty title="No call is in this state." />
            )
          }
        >
          {(calls) => <Table isStacked rows={calls} keyOf={({ id }) => id} columns={COLUMNS} />}
        </Paged>
      </Card>
    </Page>
  );
}

const COLUMNS: readonly Column<CallbackView>[] = [
  { head: 'Call', cell: ({ state }) => <span className={STATES[state][1]}>{STATES[state][0]}</span> },
  {
    head: 'Run',
    cell: ({ dag, run, outcome }) => (
      <>
        <DagLink name={dag} />{' '}
        <Link to="/runs/$id" params={{ id: run }} className="mono" title={run}>
          {shortId(run)}
        </Link>
        <div className="small">
          <State state={outcome} />
        </div>
      </>
    ),
  },
  {
    head: 'Address',
    look: 'call-address phone-line',
    cell: ({ url, lastError, lastStatus }) => (
      <>
        <span className="mono truncate" title={url}>
          {url}
        </span>
        {(lastError !== null || (lastStatus !== null && lastStatus >= 300)) && (
          <span className="small tone-bad">{lastError ?? `answered ${lastStatus}`}</span>
        )}
      </>
    ),
  },
  { head: 'Tries', place: 'right', label: 'Tries', cell: ({ attempts }) => count(attempts) },
  {
    head: 'Ended',
    label: 'Ended',
    look: 'soft nowrap',
    cell: ({ endedAt, nextAt }) => (
      <>
        <Ago at={endedAt} />
        {nextAt !== null && (
          <div className="small faint">
            next try <Ago at={nextAt} />
          </div>
        )}
      </>
    ),
  },
  actionsOf(({ run, state }) => (
    <ChangeButton
      label={`Send again: run ${shortId(run)}`}
      title="Receivers tell a repeated call by its Idempotency-Key"
      disabled={state === 'waiting'}
      run={() => post<CallbacksRepeated>(`/v1/runs/${seg(run)}/callbacks`)}
      done={`The calls of run ${shortId(run)} are sent again.`}
      touches={['callbacks']}
    >
      Send again
    </ChangeButton>
  )),
];

/** What receivers check calls with. */
function SecretDialog({ onClose }: { readonly onClose: () => void }) {
  const secret = useQuery({
    queryKey: ['callback-secret'],
    queryFn: ({ signal }) => get<CallbackSecret>('/v1/callbacks/secret', signal),
    gcTime: 0,
  });
  return (
    <Dialog title="Secret of callbacks" onClose={onClose}>
      <Loaded query={secret}>
        {(shown) => (
          <>
            <ToCopy text={shown.secret} />
            <p className="soft">
              Each call has the header <code>{shown.header}</code>: the time and an HMAC-SHA256 over it and the body,
              made with this secret. Check it before you trust a call.
            </p>
          </>
        )}
      </Loaded>
    </Dialog>
  );
}
