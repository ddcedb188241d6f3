// Scrolling of the feed: stays at the end while somebody is there, stays where they read when they are not.
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from 'react';

/** Nearer to the end than this counts as being there, px. */
const NEAR_PX = 80;

interface Following {
  scroller: RefObject<HTMLDivElement | null>;
  content: RefObject<HTMLDivElement | null>;
  following: boolean;
  /** Something came since somebody scrolled away from the end. */
  hasNew: boolean;
  jump: () => void;
}

/** `oldest` changes when history was put in above: then what is read stays in its place. `newest` changes when something came below. */
export function useFollowing(oldest: number | undefined, newest: number | undefined): Following {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const [following, setFollowing] = useState(true);
  const [leftAt, setLeftAt] = useState(newest);
  if (following && leftAt !== newest) setLeftAt(newest);
  const follows = useRef(true);
  const fromEnd = useRef(0);

  useEffect(() => {
    const element = scroller.current;
    if (element === null || content.current === null) return undefined;
    const measure = (): void => {
      fromEnd.current = element.scrollHeight - element.scrollTop;
    };
    const onScroll = (): void => {
      const near = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX;
      follows.current = near;
      setFollowing(near);
      measure();
    };
    const onGrowth = new ResizeObserver(() => {
      if (follows.current) element.scrollTop = element.scrollHeight;
      measure();
    });
    element.addEventListener('scroll', onScroll, { passive: true });
    onGrowth.observe(content.current);
    onGrowth.observe(element);
    return () => {
      element.removeEventListener('scroll', onScroll);
      onGrowth.disconnect();
    };
  }, []);

  useLayoutEffect(() => {
    const element = scroller.current;
    if (element !== null && !follows.current) element.scrollTop = element.scrollHeight - fromEnd.current;
  }, [oldest]);

  const jump = useCallback(() => {
    scroller.current?.scrollTo({ top: scroller.current.scrollHeight, behavior: 'smooth' });
  }, []);
  return { scroller, content, following, hasNew: !following && newest !== leftAt, jump };
}
