// A tool's input, whole: every key, texts with their line breaks, hidden characters made visible.
import { visibleText } from '../ui/visible-text.js';

export function InputView({ input, tall = false }: { input: Record<string, unknown>; tall?: boolean }) {
  return (
    <dl
      tabIndex={0}
      className={`overflow-auto rounded-lg border border-line bg-sunken font-mono text-xs ${tall ? 'max-h-[38dvh]' : 'max-h-96'}`}
    >
      {Object.entries(input).map(([key, value]) => (
        <div key={key} className="border-line px-2.5 py-1.5 not-first:border-t">
          <dt className="text-muted">{visibleText(key)}</dt>
          <dd className="wrap-anywhere whitespace-pre-wrap [unicode-bidi:plaintext]">{show(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

function show(value: unknown): string {
  return visibleText(typeof value === 'string' ? value : JSON.stringify(value, null, 2));
}
