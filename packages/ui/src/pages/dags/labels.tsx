/** The tags and the owner of a dag, each a way to the others that have it. */
import { Link } from '@tanstack/react-router';

interface LabelsProps {
  readonly tags: readonly string[];
  readonly owner: string | null;
  /** More tags than this are counted. */
  readonly most?: number;
}

export function DagLabels({ tags, owner, most = tags.length }: LabelsProps) {
  if (tags.length === 0 && owner === null) return null;
  return (
    <div className="labels small">
      {tags.slice(0, most).map((tag) => (
        <Link key={tag} to="/dags" search={{ tag } as never} className="chip" title={`All DAGs with the tag ${tag}`}>
          {tag}
        </Link>
      ))}
      {tags.length > most && (
        <span className="faint" title={tags.slice(most).join(', ')}>
          +{tags.length - most}
        </span>
      )}
      {owner !== null && (
        <Link to="/dags" search={{ owner } as never} className="faint" title={`All DAGs of ${owner}`}>
          {owner}
        </Link>
      )}
    </div>
  );
}
