// Copies a text. Says so for two seconds, and says when the browser does not allow it.
import { useEffect, useState } from 'react';
import { t } from '../text/index.js';
import { Icon } from './icon.js';

const SHOWN_MS = 2000;

export function CopyButton({
  text,
  label = t.feed.copy,
  className = '',
}: {
  text: () => string;
  label?: string;
  className?: string;
}) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [copied]);
  // Browsers offer the clipboard only to pages of a secure origin; elsewhere people select and copy by hand.
  if (!('clipboard' in navigator)) return null;
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text());
    setCopied(true);
  };
  return (
    <button
      type="button"
      onClick={() => void copy().catch(() => setCopied(false))}
      aria-label={label}
      title={label}
      className={`inline-flex h-7 items-center gap-1 rounded-md px-1.5 text-xs pointer-coarse:h-9 ${className}`}
    >
      <Icon name={copied ? 'check' : 'copy'} className="size-3.5" />
      <span aria-live="polite" className="empty:hidden">
        {copied ? t.feed.copied : ''}
      </span>
    </button>
  );
}
