// Says that no real model answers.
import { t } from '../text/index.js';
import { Icon } from '../ui/icon.js';
import { useHello } from './workspace-context.js';

export function DemoBanner() {
  if (useHello()?.demo_model !== true) return null;
  return (
    <div
      role="note"
      className="flex shrink-0 items-baseline gap-2 border-b border-line bg-accent-soft px-4 py-1.5 text-[0.8125rem]"
    >
      <Icon name="spark" className="size-3.5 translate-y-0.5 text-accent" />
      <p>
        <strong className="font-semibold">{t.demo.title}.</strong> {t.demo.text}{' '}
        <span className="hidden sm:inline">{t.demo.hint}</span>
      </p>
    </div>
  );
}
