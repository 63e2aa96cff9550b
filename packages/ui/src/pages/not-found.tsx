import { Link } from '@tanstack/react-router';
import { Empty, Page } from '../parts/page.tsx';

export function NotFound() {
  return (
    <Page title="No such page">
      <section className="card">
        <Empty title="Nothing is at this address.">
          <Link to="/">Go home</Link>
        </Empty>
      </section>
    </Page>
  );
}
