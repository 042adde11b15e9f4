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
 * once it is visible. So no key is lost or triggers a shortcut. Escape, a click or `maxWaitMs` ends the capture.
 */
export const focusSearch = (): void => {
  if (focusField()) return
  let typed = ''
  const capture = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'Escape') return stop()
    if (event.key === 'Backspace') typed = typed.slice(0, -1)
    else if (event.key.length === 1) typed += event.key
    else return
    event.preventDefault()
    event.stopImmediatePropagation()
  }
  const rendered = new MutationObserver(() => {
    const late = focusField()
    if (!late) return
    stop()
    if (typed === '') return
    late.value = typed
    late.dispatchEvent(new InputEvent('input', { bubbles: true }))
  })
  const timer = setTimeout(() => stop(), maxWaitMs)
  const stop = () => {
    clearTimeout(timer)
    rendered.disconnect()
    document.removeEventListener('keydown', capture, true)
    document.removeEventListener('pointerdown', stop, true)
  }
  rendered.observe(document.body, { childList: true, subtree: true, attributeFilter: ['class'] })
  document.addEventListener('keydown', capture, true)
  document.addEventListener('pointerdown', stop, true)
}
