/** Elements that can receive the focus of a removed element. Screen readers announce them and browsers outline them. */
const focusablePlaces = 'dialog, [role=dialog], [tabindex], section, form, nav, main'
const opener = 'button[aria-expanded]:not([aria-haspopup]):enabled'
const openers = `:scope > ${opener}, :scope > * > ${opener}`
const dialogSelector = 'dialog, [role=dialog]'

/** The focused element, its ancestors within its dialog or page, and the state before that dialog opened. */
interface FocusState {
  element: HTMLElement
  around: readonly HTMLElement[]
  layer: Element | null
  before: FocusState | undefined
}

/**
 * Restores the focus when its element is removed or disabled, for example by a refresh or a closed dialog. Otherwise
 * keyboard users would lose their position. Returns a function that stops it.
 */
export const keepFocus = (): (() => void) => {
  let held: FocusState | undefined
  let standIn: HTMLElement | undefined

  const restore = () => {
    const active = document.activeElement
    if (!held || (active !== document.body && active !== standIn && !active?.matches(':disabled'))) return
    if (isUsable(held.element)) held.element.focus({ preventScroll: true })
    else if (active !== standIn || !active?.isConnected) {
      standIn = findFocusTarget(held)
      focusPlace(standIn)
    }
  }
  const observer = new MutationObserver(restore)

  const hold = ({ target }: FocusEvent) => {
    if (!(target instanceof HTMLElement) || target === document.body || target === standIn) return
    standIn = undefined
    const layer = target.closest(dialogSelector)
    const before = layer === null ? undefined : layer === held?.layer ? held.before : held
    held = { element: target, around: listAncestors(target, layer), layer, before }
    const options = { childList: true, subtree: true, attributes: true, attributeFilter: ['disabled'] }
    observer.observe(document.body, options)
  }
  // A click on the page background removes the focus on purpose.
  const letGo = () => {
    held = undefined
    observer.disconnect()
  }
  document.addEventListener('focusin', hold)
  document.addEventListener('pointerdown', letGo, true)
  return () => {
    letGo()
    document.removeEventListener('focusin', hold)
    document.removeEventListener('pointerdown', letGo, true)
  }
}

const listAncestors = (element: HTMLElement, layer: Element | null): HTMLElement[] => {
  const around: HTMLElement[] = []
  for (let each = element; each !== layer && each.parentElement; each = each.parentElement)
    around.push(each.parentElement)
  return around
}

/**
 * Returns the element to focus: a disclosure button in the nearest remaining ancestor, else the nearest usable region.
 * If a dialog has neither, returns the element that had the focus before the dialog opened.
 */
const findFocusTarget = ({ around, before }: FocusState): HTMLElement | undefined =>
  around.find(({ isConnected }) => isConnected)?.querySelector<HTMLElement>(openers) ??
  around.find((each) => each.matches(focusablePlaces) && isUsable(each)) ??
  (before && (isUsable(before.element) ? before.element : findFocusTarget(before)))

const isUsable = (element: HTMLElement): boolean =>
  element.isConnected && !element.matches(':disabled') && element.checkVisibility()

const focusPlace = (place: HTMLElement | undefined): void => {
  if (place?.tabIndex === -1 && !place.hasAttribute('tabindex')) {
    place.tabIndex = -1
    place.addEventListener('blur', () => place.removeAttribute('tabindex'), { once: true })
  }
  place?.focus({ preventScroll: true })
}
