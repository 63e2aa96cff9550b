import type { KeyStored } from './change.ts';

export function keyName(key: Pick<KeyStored, 'tenantId' | 'operation' | 'target' | 'key'>): string {
  return `${key.tenantId}/${key.operation}/${key.target}/${key.key}`;
}
