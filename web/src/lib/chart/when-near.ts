import type { Attachment } from 'svelte/attachments'

/** Half a screen before it is seen. */
const margin = '50%'

/** Tells once that an element is seen, or about to be. */
export const whenNear =
  (tell: () => void): Attachment =>
  (element) => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return
        observer.disconnect()
        tell()
      },
      { rootMargin: margin },
    )
    observer.observe(element)
    return () => observer.disconnect()
  }
