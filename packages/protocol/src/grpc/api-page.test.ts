import { expect, test } from 'vitest';
import { apiPage } from './api-page.ts';

test('the reference of the gRPC API is the one that its proto file makes (vitest -u writes it)', async () => {
  const page = apiPage();
  expect(page).toContain('`TriggerRun`([TriggerRunRequest](#triggerrunrequest)) → [TriggeredRun](#triggeredrun)');
  expect(page).toContain('`GetTaskLogs`([GetTaskLogsRequest](#gettasklogsrequest)) → stream [TaskLogLine]');
  await expect(page).toMatchFileSnapshot('../../../../docs/reference/grpc.md');
});
