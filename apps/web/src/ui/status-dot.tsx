// A small round light. Its meaning is always also said in words beside it or in `label`.

export type Tone = 'idle' | 'busy' | 'ok' | 'warn' | 'danger';

const TONES: Record<Tone, string> = {
  idle: 'bg-edge/70',
  busy: 'bg-accent animate-pulse-soft',
  ok: 'bg-ok',
  warn: 'bg-warn',
  danger: 'bg-danger',
};

export function StatusDot({ tone, label }: { tone: Tone; label?: string }) {
  return (
    <span className="inline-flex items-center" title={label}>
      <span className={`size-2 shrink-0 rounded-full ${TONES[tone]}`} aria-hidden="true" />
      {label !== undefined && <span className="sr-only">{label}</span>}
    </span>
  );
}
