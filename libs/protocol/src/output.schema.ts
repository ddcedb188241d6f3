// What is missing in a command's output.
import { z } from 'zod';
import { offset } from './primitives.schema.js';

export const OUTPUT_GAP_REASONS = ['cut', 'expired'] as const;

export const outputGap = z
  .object({
    from_offset: offset,
    to_offset: offset.describe('The first byte after the gap'),
    reason: z
      .enum(OUTPUT_GAP_REASONS)
      .describe(
        '`cut`: a cap keeps the first and the last bytes only. `expired`: it was kept for as long as is configured',
      ),
  })
  .describe('Bytes of output that are not kept');
export type OutputGap = z.infer<typeof outputGap>;
