// Renders what markdown.ts read, as React elements only.
import { memo, useMemo } from 'react';
import { CopyButton } from './copy-button.js';
import { type Block, type Inline, parseMarkdown } from './markdown.js';

export const MarkdownView = memo(function MarkdownView({ text }: { text: string }) {
  const blocks = useMemo(() => parseMarkdown(text), [text]);
  return (
    <div className="space-y-3 wrap-anywhere">
      <Blocks blocks={blocks} />
    </div>
  );
});

function Blocks({ blocks }: { blocks: readonly Block[] }) {
  return blocks.map((block, index) => <BlockView key={index} block={block} />);
}

const HEADINGS = ['text-lg', 'text-base', 'text-[0.9375rem]'];

function BlockView({ block }: { block: Block }) {
  switch (block.type) {
    case 'paragraph':
      return (
        <p className="whitespace-pre-line">
          <Inlines nodes={block.children} />
        </p>
      );
    case 'heading':
      return (
        <p role="heading" aria-level={block.level + 2} className={`font-semibold ${HEADINGS[block.level - 1] ?? ''}`}>
          <Inlines nodes={block.children} />
        </p>
      );
    case 'code':
      return <CodeBlock language={block.language} text={block.text} />;
    case 'quote':
      return (
        <blockquote className="space-y-3 border-l-2 border-edge/50 pl-3 text-muted">
          <Blocks blocks={block.blocks} />
        </blockquote>
      );
    case 'list':
      return <ListView block={block} />;
    case 'rule':
      return <hr className="border-line" />;
  }
}

function CodeBlock({ language, text }: { language: string; text: string }) {
  return (
    <figure className="group relative overflow-hidden rounded-lg border border-line bg-sunken">
      <figcaption className="flex items-center justify-between border-b border-line px-3 py-0.5 font-mono text-xs text-muted">
        <span>{language}</span>
        <CopyButton text={() => text} className="hover:text-ink" />
      </figcaption>
      <pre tabIndex={0} className="overflow-x-auto p-3 font-mono text-[0.8125rem] leading-relaxed">
        <code>{text}</code>
      </pre>
    </figure>
  );
}

function ListView({ block }: { block: Extract<Block, { type: 'list' }> }) {
  const items = block.items.map((blocks, index) => (
    <li key={index} className="space-y-1 pl-1">
      <Blocks blocks={blocks} />
    </li>
  ));
  return block.ordered ? (
    <ol start={block.start} className="list-decimal space-y-1 pl-6 marker:text-muted">
      {items}
    </ol>
  ) : (
    <ul className="list-disc space-y-1 pl-5 marker:text-muted">{items}</ul>
  );
}

function Inlines({ nodes }: { nodes: readonly Inline[] }) {
  return nodes.map((node, index) => <InlineView key={index} node={node} />);
}

function InlineView({ node }: { node: Inline }) {
  switch (node.type) {
    case 'text':
      return node.text;
    case 'code':
      return <code className="rounded bg-sunken px-1 py-0.5 font-mono text-[0.85em]">{node.text}</code>;
    case 'strong':
      return (
        <strong className="font-semibold">
          <Inlines nodes={node.children} />
        </strong>
      );
    case 'emphasis':
      return (
        <em>
          <Inlines nodes={node.children} />
        </em>
      );
    case 'strike':
      return (
        <s>
          <Inlines nodes={node.children} />
        </s>
      );
    case 'link':
      return (
        <a
          href={node.href}
          target="_blank"
          rel="noopener noreferrer"
          className="text-accent underline underline-offset-2 hover:text-accent-strong"
        >
          <Inlines nodes={node.children} />
        </a>
      );
  }
}
