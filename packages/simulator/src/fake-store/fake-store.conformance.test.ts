import { storeConformance } from '@signalbox/store/conformance';
import { fakeSubject } from './fake-subject.ts';

storeConformance('the fake store', () => fakeSubject());
