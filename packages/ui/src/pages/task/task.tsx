import type { AttemptView, RunColumns, TaskView, Why } from '@signalbox/protocol';
import { TASK_STATES } from '@signalbox/protocol/words';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { RunWithNewest, useNewestVersion } from '../../actions/run-with-newest.tsx';
import { TaskActions } from '../../actions/task-actions.tsx';
import { seg } from '../../api/client.ts';
import { columnsQuery, shapeQuery, taskQuery, versionQuery, workersQuery } from '../../api/queries.ts';
import { useSearchState } from '../../api/search-state.ts';
import { DagCrumbs } from '../../parts/dag-link.tsx';
import { bytes, count, shortId, span } from '../../parts/format.ts';
import { Json } from '../../parts/json.tsx';
import { Time, Took, useNow } from '../../parts/now.tsx';
import { Card, Failed, Page } from '../../parts/page.tsx';
import { State, StateIcon } from '../../parts/state.tsx';
import { lookOf } from '../../parts/states.ts';
import { EXACTLY } from '../../parts/tabs.tsx';
import { uncoloured } from '../../parts/visible.ts';
import { Linked, WhyText } from '../../parts/why-text.tsx';
import { TaskSpec } from '../dag/task-spec.tsx';
import { Decision } from './decision.tsx';
import { Instances } from './instances.tsx';
import { sentenceOf } from './why.ts';
import { useTaskWhy, WhyChain } from './why-chain.tsx';
import './task.css';

const LogViewer = lazy(async () => ({ default: (await import('../../log/viewer.tsx')).LogViewer }));

export function TaskPage() {
  const { id = '', task: name = '' } = useParams({ strict: false });
  const task = useQuery(taskQuery(id, name));
  const run = useQuery(columnsQuery(id)).data;
  const crumbs = (
    <>
      {run !== undefined && <DagCrumbs dag={run.dag} />}{' '}
      <Link to="/runs/$id" params={{ id }}>
        Run {shortId(id)}
      </Link>{' '}
      /
    </>
  );
  if (task.data === undefined) {
    return (
      <Page title={name} crumbs={crumbs}>
        {task.error === null ? <div className="loading">Loading …</div> : <Failed error={task.error} />}
      </Page>
    );
  }
  return (
    <Page
      name={name}
      crumbs={crumbs}
      title={
        <>
          {name} <State state={task.data.state} />
        </>
      }
      actions={run === undefined ? <TaskActions runId={id} task={task.data} /> : <Actions run={run} task={task.data} />}
    >
      <TaskBody runId={id} task={task.data} run={run} />
    </Page>
  );
}

/** The cause is found here, so the way on is here too: with the fix, once there is one. */
function Actions({ run, task }: { readonly run: RunColumns; readonly task: TaskView }) {
  const newest = useNewestVersion(run, task.state === 'failed');
  const hasFix = newest > run.version;
  return (
    <>
      {hasFix && <RunWithNewest run={run} newest={newest} />}
      <TaskActions runId={run.id} task={task} hasFix={hasFix} />
    </>
  );
}

interface TaskBodyProps {
  readonly runId: string;
  readonly task: TaskView;
  /** Undefined until it is read. */
  readonly run: RunColumns | undefined;
}

function TaskBody({ runId, task, run }: TaskBodyProps) {
  const now = useNow();
  const why = useTaskWhy(runId, task);
  const [{ attempt: chosen }] = useSearchState();
  const attempt = task.attempts.find((one) => String(one.attempt) === chosen) ?? task.attempts.at(-1);
  const tone = lookOf(task.state).tone;
  return (
    <>
      <div className="why-box">
        <div
          className={`notice ${tone === 'bad' ? 'bad' : tone === 'warn' || tone === 'odd' ? 'warn' : ''}`}
          role="status"
        >
          <StateIcon state={task.state} />
          <span>
            <Sentence task={task} now={now} reason={why?.chain[0]} />
          </span>
        </div>
        {why !== undefined && <WhyChain why={why} run={run} />}
      </div>
      <Needs runId={runId} task={task} />
      {task.progress !== undefined && <Progress progress={task.progress} />}
      {task.instances !== null && <Instances runId={runId} task={task.name} counts={task.instances} />}
      {task.attempts.length > 1 && (
        <nav className="tabs" aria-label="Attempts">
          {task.attempts.map((one) => (
            <Link
              key={one.attempt}
              to="."
              search={{ attempt: String(one.attempt) } as never}
              replace
              activeOptions={EXACTLY}
              aria-current={one === attempt ? 'page' : undefined}
            >
              <StateIcon state={one.outcome ?? 'running'} size={12} /> Attempt {one.attempt}
              {one.speculative && ' (second)'}
            </Link>
          ))}
        </nav>
      )}
      {attempt !== undefined && <Attempt key={attempt.attempt} runId={runId} task={task.name} attempt={attempt} />}
      {task.inputs !== undefined && <Inputs inputs={task.inputs} />}
      {task.output !== null && (
        <Card title="Output">
          <Json value={task.output} />
        </Card>
      )}
      {task.checkpoint !== undefined && (
        <Card title="Checkpoint">
          <Json value={task.checkpoint} />
        </Card>
      )}
      <Definition runId={runId} name={task.name} />
    </>
  );
}

interface SentenceProps {
  readonly task: TaskView;
  readonly now: number;
  /** The outermost one why it waits. */
  readonly reason: Why | undefined;
}

/** The server explains what waits, and names it; what runs or has ended speaks for itself. */
function Sentence({ task, now, reason }: SentenceProps) {
  // As the matcher sees it, which knows more than the task does.
  if (reason !== undefined) return <WhyText why={reason} />;
  const text = sentenceOf(task, now);
  return task.why !== null && text === task.why.message ? <WhyText why={task.why} /> : <Linked text={text} />;
}

function Attempt({
  runId,
  task,
  attempt,
}: {
  readonly runId: string;
  readonly task: string;
  readonly attempt: AttemptView;
}) {
  const path = `/v1/runs/${seg(runId)}/tasks/${seg(task)}/attempts/${attempt.attempt}/log`;
  return (
    <>
      <Card>
        <div className="facts">
          <span>
            Attempt <b>{attempt.attempt}</b>
          </span>
          <span>
            <State state={attempt.outcome ?? 'running'} />
          </span>
          <span>
            Started{' '}
            <b>
              <Time at={attempt.startedAt ?? attempt.claimedAt} />
            </b>
          </span>
          <span>
            {attempt.endedAt === null ? 'Running for' : 'Took'}{' '}
            <b>
              <Took from={attempt.startedAt ?? attempt.claimedAt} to={attempt.endedAt} />
            </b>
          </span>
          {attempt.worker !== null && (
            <span>
              Worker <WorkerLink id={attempt.worker} />
            </span>
          )}
          {attempt.cpuMs !== null && (
            <span title="Processor time of its process, and of those that it waited for">
              CPU <b>{span(attempt.cpuMs)}</b>
            </span>
          )}
          {attempt.peakMemoryBytes !== null && (
            <span title="The most memory that it had at a time, as far as its worker saw">
              Peak memory <b>{bytes(attempt.peakMemoryBytes)}</b>
            </span>
          )}
          {attempt.code !== null && (
            <span>
              Code <b className="mono">{attempt.code}</b>
            </span>
          )}
          {attempt.child?.run != null && (
            <span>
              Runs{' '}
              <Link to="/runs/$id" params={{ id: attempt.child.run }}>
                {attempt.child.dag} {shortId(attempt.child.run)}
              </Link>
            </span>
          )}
        </div>
        {attempt.error !== null && <pre className="block error-block">{uncoloured(attempt.error)}</pre>}
        {attempt.worker !== null && <Decision runId={runId} task={task} attempt={attempt.attempt} />}
      </Card>
      {attempt.child === null && (
        <Suspense fallback={<div className="loading">Loading …</div>}>
          <LogViewer
            path={path}
            download={`/v1/runs/${seg(runId)}/tasks/${seg(task)}/attempts/${attempt.attempt}/log?format=text`}
            empty="This attempt has written nothing."
          />
        </Suspense>
      )}
    </>
  );
}

/** What its last attempt was given. */
function Inputs({ inputs }: { readonly inputs: NonNullable<TaskView['inputs']> }) {
  return (
    <Card title="Input">
      <div className="stack">
        {inputs.map(({ name, value, unresolved }) => (
          <div key={name} className="stack tight">
            <h3 className="mono">{name}</h3>
            {unresolved === null ? (
              <Json value={value} />
            ) : (
              <p className="soft small">
                <code>{unresolved}</code> is not shown here: it is large, made of all items of a map, or does not exist.
              </p>
            )}
          </div>
        ))}
      </div>
    </Card>
  );
}

/** What it is, as the version of this run says. */
function Definition({ runId, name }: { readonly runId: string; readonly name: string }) {
  const run = useQuery(columnsQuery(runId)).data;
  const version = useQuery({ ...versionQuery(run?.dag ?? '', run?.version ?? 0), enabled: run !== undefined }).data;
  const plain = name.replace(/(\[\d+\])+$/, '');
  const spec = version?.tasks.find((one) => one.name === plain);
  return spec === undefined ? null : <TaskSpec task={spec} title="Definition" />;
}

/** By its name while it is connected. */
function WorkerLink({ id }: { readonly id: string }) {
  const name = useQuery(workersQuery()).data?.items.find((worker) => worker.id === id)?.name;
  return (
    <Link to="/workers" search={{ worker: id } as never} className={name === undefined ? 'mono' : undefined} title={id}>
      {name ?? id.slice(0, 8)}
    </Link>
  );
}

const SHOWN_NEEDS = 12;

/** What it needs, with their states: the way to what holds it up. */
function Needs({ runId, task }: { readonly runId: string; readonly task: TaskView }) {
  const run = useQuery(columnsQuery(runId)).data;
  const shape = useQuery(shapeQuery(runId, run?.columns.state.length ?? -1)).data;
  if (run === undefined || shape == null) return null;
  const own = shape.names.indexOf(task.name.replace(/(\[\d+\])+$/, ''));
  const near = (at: 0 | 1) =>
    shape.edges.flatMap((no, i) =>
      i % 2 === 1 - at && no === own ? [shape.edges[at === 0 ? i - 1 : i + 1] as number] : [],
    );
  const [before, after] = [near(0), near(1)];
  if (before.length + after.length === 0) return null;
  return (
    <div className="facts">
      <Neighbours label="Needs" nos={before} run={runId} columns={run.columns} names={shape.names} />
      <Neighbours label="Needed by" nos={after} run={runId} columns={run.columns} names={shape.names} />
    </div>
  );
}

interface NeighboursProps {
  readonly label: string;
  readonly nos: readonly number[];
  readonly run: string;
  readonly columns: RunColumns['columns'];
  readonly names: readonly string[];
}

function Neighbours({ label, nos, run, columns, names }: NeighboursProps) {
  if (nos.length === 0) return null;
  return (
    <span className="row wrap">
      {label}
      {nos.slice(0, SHOWN_NEEDS).map((no) => (
        <Link key={no} to="/runs/$id/tasks/$task" params={{ id: run, task: names[no] ?? '' }} className="row need">
          <StateIcon state={TASK_STATES[columns.state[no] ?? 0] ?? 'blocked'} size={12} />
          {names[no]}
        </Link>
      ))}
      {nos.length > SHOWN_NEEDS && <span className="faint">and {count(nos.length - SHOWN_NEEDS)} more</span>}
    </span>
  );
}

function Progress({ progress }: { readonly progress: NonNullable<TaskView['progress']> }) {
  const percent = progress.fraction === null ? null : Math.round(progress.fraction * 100);
  return (
    <div className="row">
      {percent !== null && (
        <div className="bar grow" role="progressbar" aria-valuenow={percent} aria-label="Progress">
          <i className="tone-fill-busy" style={{ width: `${percent}%` }} />
        </div>
      )}
      <span className="soft">
        {[percent === null ? null : `${percent} %`, progress.note].filter(Boolean).join(' · ')}
      </span>
    </div>
  );
}
