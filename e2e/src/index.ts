export { ADMIN_TOKEN, Cluster, type ServerProcess } from './cluster.ts';
export { undergo } from './ordeal.ts';
export { freePort, pause, type Started, until } from './processes.ts';
export { ORDEALS } from './scenarios.ts';
export { chromium, type SignedIn, startUiRig, type UiRig } from './ui-rig.ts';
