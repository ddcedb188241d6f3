// Lets a text area be as high as its text, up to its maximum height.
import { type RefObject, useLayoutEffect, useRef } from 'react';

export function useAutoGrow(text: string): RefObject<HTMLTextAreaElement | null> {
  const area = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    if (area.current === null) return;
    area.current.style.height = 'auto';
    area.current.style.height = `${area.current.scrollHeight}px`;
  }, [text]);
  return area;
}
