// `npm run build`: everything that runs, into dist/.
import { buildChanged } from './ops/build/build.ts';
import { ReportedFailure, Steps } from './ops/step.ts';

try {
  await new Steps().run('Build', buildChanged);
} catch (error) {
  if (!(error instanceof ReportedFailure)) throw error;
  process.exitCode = 1;
}
