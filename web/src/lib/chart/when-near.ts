import type { Attachment } from 'svelte/attachments'

/** An element is near within half a screen of the viewport. */
const margin = '50%'

/** Calls a function once when an element becomes visible or is about to. */
export const whenNear =
  (onNear: () => void): Attachment =>
  (element) => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return
        observer.disconnect()
        onNear()
      },
      { rootMargin: margin },
    )
    observer.observe(element)
    return () => observer.disconnect()
  }
