/** The tags and the owner of a dag, each a way to the others that have it. */
import { Link } from '@tanstack/react-router';

interface LabelsProps {
  readonly tags: readonly string[];
  readonly owner: string | null;
}

export function DagLabels({ tags, owner }: LabelsProps) {
  if (tags.length === 0 && owner === null) return null;
  return (
    <div className="labels small">
      {tags.map((tag) => (
        <Link key={tag} to="/dags" search={{ tag } as never} className="chip" title={`All DAGs with the tag ${tag}`}>
          {tag}
        </Link>
      ))}
      {owner !== null && (
        <Link to="/dags" search={{ owner } as never} className="faint" title={`All DAGs of ${owner}`}>
          {owner}
        </Link>
      )}
    </div>
  );
}
