export { Cluster } from './cluster.ts';
export { undergo } from './ordeal.ts';
export { ORDEALS } from './scenarios.ts';
