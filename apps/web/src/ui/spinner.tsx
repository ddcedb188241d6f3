// Says that something is under way.
export function Spinner({ label, className = 'size-4' }: { label?: string; className?: string }) {
  return (
    <span role={label === undefined ? undefined : 'status'} className="inline-flex items-center gap-2 text-muted">
      <span
        className={`inline-block animate-spin rounded-full border-2 border-current border-r-transparent ${className}`}
        aria-hidden="true"
      />
      {label}
    </span>
  );
}
