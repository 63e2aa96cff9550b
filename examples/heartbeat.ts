// Runs by itself, every five minutes. `missed: 'skip'`: after a pause nothing is caught up on.
//
//   npx signalbox dags show heartbeat
import { dag } from '@signalbox/sdk';

export default dag(
  'heartbeat',
  {
    description: 'Says that it is there.',
    schedule: { cron: '*/5 * * * *', zone: 'UTC', missed: 'skip' },
    priority: 'low',
  },
  ({ task }) => {
    task('beat', { timeout: '10s', inProcess: true }, () => ({ uptime: Math.round(process.uptime()) }));
  },
);
