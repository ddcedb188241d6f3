// A question of the agent in the feed: what it was about, and how it ended.
import { assertNever } from '#kernel';
import type { PermissionItem } from '../state/feed-item.js';
import type { PermissionClosing } from '../state/permissions.js';
import { t } from '../text/index.js';
import { Icon, type IconName } from '../ui/icon.js';

export function PermissionLine({ item: { request, closing } }: { item: PermissionItem }) {
  const { icon, className, words } = outcome(closing);
  return (
    <p className="flex items-center gap-1.5 pl-1 text-xs text-muted">
      <Icon name={icon} className={`size-3.5 ${className}`} />
      <span className="font-mono font-medium text-ink">{request.tool_name}</span>
      <span className="wrap-anywhere">
        {words}
        {closing?.message !== undefined && closing.message !== '' && ` – “${closing.message}”`}
      </span>
    </p>
  );
}

function outcome(closing: PermissionClosing | undefined): { icon: IconName; className: string; words: string } {
  if (closing === undefined) return { icon: 'question', className: 'text-warn', words: t.permission.waiting };
  const nobody = closing.answered_via === 'policy' ? t.permission.rules : t.permission.somebody;
  const name = closing.answered_by?.name ?? nobody;
  switch (closing.status) {
    case 'answered':
      return closing.behavior === 'deny'
        ? { icon: 'close', className: 'text-danger', words: t.permission.deniedBy(name) }
        : { icon: 'check', className: 'text-ok', words: t.permission.allowedBy(name) };
    case 'expired':
      return { icon: 'minus', className: '', words: t.permission.expired };
    case 'cancelled':
      return { icon: 'minus', className: '', words: t.permission.cancelled };
    case 'run_ended':
      return { icon: 'minus', className: '', words: t.permission.runEnded };
    default:
      return assertNever(closing.status);
  }
}
