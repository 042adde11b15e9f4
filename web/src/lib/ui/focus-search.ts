import { captureTyping } from './capture-typing.ts'

/** Maximum time for which keys are captured. If no search field appears in this time, the page has none. */
const maxWaitMs = 3_000

/** Focuses the search field and returns it; null if there is none, or if it is not visible yet. */
const focusField = (): HTMLInputElement | null => {
  const field = document.querySelector<HTMLInputElement>('main [type=search]')
  field?.focus()
  return document.activeElement === field ? field : null
}

/**
 * Focuses the search field of the page. While the page is loading, captures typed keys and enters them into the field
 * once it is visible. Escape, a click or `maxWaitMs` ends the capture.
 */
export const focusSearch = (): void => {
  if (focusField()) return
  const stopWaiting = () => {
    clearTimeout(timer)
    rendered.disconnect()
  }
  const stopTyping = captureTyping({ oncancel: stopWaiting })
  const rendered = new MutationObserver(() => {
    const late = focusField()
    if (!late) return
    stopWaiting()
    const { text } = stopTyping()
    if (text === '') return
    late.value = text
    late.dispatchEvent(new InputEvent('input', { bubbles: true }))
  })
  const timer = setTimeout(() => {
    stopWaiting()
    stopTyping()
  }, maxWaitMs)
  rendered.observe(document.body, { childList: true, subtree: true, attributeFilter: ['class'] })
}
