/** One job and its runs. */
import type { JobView } from '@signalbox/protocol';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { jobQuery, jobRunPagesQuery } from '../../api/queries.ts';
import { actorName, shortId } from '../../parts/format.ts';
import { Ago, Time } from '../../parts/now.tsx';
import { Card, Empty, Loaded, Page } from '../../parts/page.tsx';
import { Paged } from '../../parts/paged.tsx';
import { RunTable } from '../../parts/run-table.tsx';
import { State } from '../../parts/state.tsx';
import { JobActions } from './job-actions.tsx';
import { Labels } from './jobs.tsx';
import { When } from './when.tsx';

export function JobPage() {
  const { id = '' } = useParams({ strict: false });
  const job = useQuery(jobQuery(id));
  const navigate = useNavigate();
  const { data } = job;
  return (
    <Page
      name={data?.name ?? `Job ${shortId(id)}`}
      crumbs={
        <>
          <Link to="/jobs">Jobs</Link> /
        </>
      }
      title={
        <>
          {data?.name ?? (
            <>
              Job <span className="mono">{shortId(id)}</span>
            </>
          )}{' '}
          {data !== undefined && <State state={data.state} />}
        </>
      }
      actions={data !== undefined && <JobActions job={data} onDeleted={() => void navigate({ to: '/jobs' })} />}
    >
      <Loaded query={job}>{(shown: JobView) => <Facts job={shown} />}</Loaded>
      {data !== undefined && <Runs id={id} />}
    </Page>
  );
}

function Facts({ job }: { readonly job: JobView }) {
  return (
    <Card>
      <dl className="pairs">
        <dt>Does</dt>
        <dd className="mono">{job.what}</dd>
        <dt>When</dt>
        <dd>
          <When job={job} />
        </dd>
        {(job.tags.length > 0 || job.owner !== null || job.recurring) && (
          <>
            <dt>Labels</dt>
            <dd className="job-about">
              <Labels job={job} />
            </dd>
          </>
        )}
        <dt>Created</dt>
        <dd>
          <Time at={job.createdAt} /> (<Ago at={job.createdAt} />) by {actorName(job.createdBy)}
        </dd>
        <dt>Id</dt>
        <dd className="mono">{job.id}</dd>
      </dl>
    </Card>
  );
}

function Runs({ id }: { readonly id: string }) {
  const pages = useInfiniteQuery(jobRunPagesQuery(id));
  return (
    <Card title="Runs" flush>
      <Paged query={pages} more="Older runs" empty={<Empty title="It has not run yet." />}>
        {(runs) => <RunTable runs={runs} withDag={false} />}
      </Paged>
    </Card>
  );
}
