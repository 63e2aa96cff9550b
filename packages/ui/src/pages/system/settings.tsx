/** Settings of the cluster that people change while it runs. */
import type { SettingsView } from '@signalbox/protocol';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { OpenButton } from '../../actions/change.tsx';
import { put } from '../../api/client.ts';
import { settingsQuery } from '../../api/queries.ts';
import { useIsInstallation } from '../../api/session.tsx';
import { TextField } from '../../parts/field.tsx';
import { FormDialog } from '../../parts/form-dialog.tsx';
import { span } from '../../parts/format.ts';
import { Card, Loaded } from '../../parts/page.tsx';
import { spanText } from '../schedules/schedule-form.ts';

export function Settings() {
  const settings = useQuery(settingsQuery());
  const isInstallation = useIsInstallation();
  return (
    <Card
      title="Settings of the cluster"
      side={
        isInstallation &&
        settings.data !== undefined && (
          <OpenButton
            needs="admin"
            label="Change the settings"
            dialog={(onClose) => <ChangeDialog settings={settings.data} onClose={onClose} />}
          >
            Change …
          </OpenButton>
        )
      }
    >
      <Loaded query={settings}>
        {({ jitterMs }) => (
          <div className="facts">
            <span title="Of schedules that name none. It spreads those that would all fire on the hour.">
              Default jitter of schedules <b>{jitterMs === 0 ? 'none' : `up to ${span(jitterMs)}`}</b>
            </span>
          </div>
        )}
      </Loaded>
    </Card>
  );
}

function ChangeDialog({ settings, onClose }: { readonly settings: SettingsView; readonly onClose: () => void }) {
  const [jitter, setJitter] = useState(settings.jitterMs === 0 ? '0' : spanText(settings.jitterMs));
  return (
    <FormDialog
      title="Settings of the cluster"
      verb="Save"
      isReady={jitter.trim() !== ''}
      onClose={onClose}
      change={{
        run: () => put('/v1/settings', { jitter: jitter.trim() }),
        done: 'Saved. Servers use it within seconds.',
        touches: ['settings', 'audit', 'firings', 'schedules', 'schedule-pages'],
      }}
    >
      <TextField
        label="Jitter"
        value={jitter}
        onChange={setJitter}
        hint="Such as 30s or 5m; 0 for none. Schedules that name no jitter fire late by less than this, each by its own part."
      />
    </FormDialog>
  );
}
