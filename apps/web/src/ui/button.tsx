// Buttons of the page. A disabled one says why in `reason`, which is shown as its title and read to screen readers.
import type { ButtonHTMLAttributes, ReactNode } from 'react';
import { Icon, type IconName } from './icon.js';

type Look = 'primary' | 'secondary' | 'quiet' | 'danger';

const LOOKS: Record<Look, string> = {
  primary: 'bg-accent text-on-accent hover:bg-accent-strong border-transparent',
  secondary: 'bg-surface text-ink border-edge/60 hover:bg-sunken',
  quiet: 'bg-transparent text-muted border-transparent hover:bg-sunken hover:text-ink',
  danger: 'bg-surface text-danger border-danger-line hover:bg-danger-soft',
};

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: Look;
  icon?: IconName;
  size?: 'normal' | 'small';
  reason?: string | undefined;
  children?: ReactNode;
}

export function Button({
  look = 'secondary',
  icon,
  size = 'normal',
  reason,
  className = '',
  children,
  ...rest
}: ButtonProps) {
  const box = size === 'small' ? 'h-8 px-2.5 text-[0.8125rem] pointer-coarse:h-10' : 'h-10 px-4';
  const disabled = rest.disabled === true || reason !== undefined;
  return (
    <button
      type="button"
      title={reason}
      {...rest}
      disabled={disabled}
      className={`inline-flex items-center justify-center gap-1.5 rounded-lg border font-medium whitespace-nowrap transition-colors disabled:cursor-not-allowed disabled:opacity-55 ${box} ${LOOKS[look]} ${className}`}
    >
      {icon !== undefined && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A button that shows only a pictogram; `label` is its name. */
export function IconButton({ label, icon, className = '', ...rest }: ButtonProps & { label: string; icon: IconName }) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      {...rest}
      className={`inline-flex size-9 items-center justify-center rounded-lg text-muted transition-colors hover:bg-sunken hover:text-ink disabled:opacity-50 pointer-coarse:size-11 ${className}`}
    >
      <Icon name={icon} className="size-[1.125rem]" />
    </button>
  );
}
