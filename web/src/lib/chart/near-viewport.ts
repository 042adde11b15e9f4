import type { Attachment } from 'svelte/attachments'

/** Distance from the viewport at which an element counts as near: half the size of the viewport. */
const nearMargin = '50%'

/** Returns an attachment that calls a function once, when its element is in or near the viewport. */
export const runWhenNearViewport =
  (onNear: () => void): Attachment =>
  (element) => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return
        observer.disconnect()
        onNear()
      },
      { rootMargin: nearMargin },
    )
    observer.observe(element)
    return () => observer.disconnect()
  }
