/** Where events come from beside the API, and those that should have come: webhooks, watched folders, expected events. */
import { useIsInstallation, useRights } from '../../api/session.tsx';
import { Page } from '../../parts/page.tsx';
import { Webhooks } from '../triggers/webhooks.tsx';
import { Expected } from './expected.tsx';
import { Folders } from './folders.tsx';

export function SourcesPage() {
  const { isAdmin } = useRights();
  const isInstallation = useIsInstallation();
  return (
    <Page
      title="Event sources"
      sub="Events start runs of DAGs whose triggers take them. They come from the API, from webhooks and from watched folders."
    >
      <Expected />
      {isAdmin && <Webhooks />}
      {isInstallation && <Folders />}
    </Page>
  );
}
