import { createRandomId } from './random-id.ts'

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

const isControl = (target: EventTarget | null): target is Control =>
  target instanceof HTMLInputElement || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement

/** Returns why a value is invalid, in the words of the other forms and not in those of the browser. */
export const formatValidity = (control: Control): string => {
  const { validity, validationMessage } = control
  const { min = '', max = '', title = '' } = control instanceof HTMLInputElement ? control : {}
  if (validity.customError) return validationMessage
  if (validity.valueMissing && control instanceof HTMLSelectElement) return 'Select an option'
  if (validity.patternMismatch && title !== '') return title
  if (validity.valueMissing || validity.patternMismatch) return 'Enter a value'
  if (validity.typeMismatch && control.type === 'url') return 'Enter a full URL, such as https://example.com/'
  if (validity.badInput) return control.type === 'number' ? 'Enter a number' : 'Enter a complete value'
  if (validity.stepMismatch) return 'Enter a whole number'
  if (min !== '' && max !== '' && (validity.rangeUnderflow || validity.rangeOverflow))
    return `Enter a number from ${min} to ${max}`
  return validationMessage
}

/**
 * Shows the problems of all forms below their fields, instead of the bubble of the browser: when the user leaves a
 * changed field, and when a form is submitted. Forms with `novalidate` show their problems themselves.
 */
export const validateInline = (): void => {
  const messages = new Map<Control, HTMLElement>()
  const changed = new WeakSet<Control>()
  let isLeaving = false
  let submitted: HTMLFormElement | null = null

  const show = (control: Control): void => {
    for (const each of messages.keys()) if (!each.isConnected) messages.delete(each)
    const message = messages.get(control) ?? addMessage(control)
    messages.set(control, message)
    message.textContent = formatValidity(control)
    control.setAttribute('aria-invalid', 'true')
  }
  const hide = (control: Control): void => {
    if (messages.get(control)?.dataset.named) control.removeAttribute('aria-label')
    messages.get(control)?.remove()
    messages.delete(control)
    control.removeAttribute('aria-invalid')
    control.removeAttribute('aria-errormessage')
  }
  const handlers = {
    invalid: (event: Event) => {
      if (!isControl(event.target)) return
      event.preventDefault()
      show(event.target)
      const { form } = event.target
      if (isLeaving || form === null || form === submitted) return
      submitted = form
      event.target.focus()
      // Microtasks would run between the events of two fields.
      setTimeout(() => (submitted = null))
    },
    focusout: ({ target }: Event) => {
      if (!isControl(target) || target.form === null || target.form.noValidate || !changed.has(target)) return
      isLeaving = true
      target.checkValidity()
      isLeaving = false
    },
    input: ({ target }: Event) => {
      if (!isControl(target) || target.form?.noValidate) return
      changed.add(target)
      for (const control of messages.keys()) {
        // Forms may set the validity of a field by the value of another one, after this event.
        if (control.form === target.form) setTimeout(() => (control.validity.valid ? hide(control) : show(control)))
      }
    },
  }
  for (const [name, handle] of Object.entries(handlers)) document.addEventListener(name, handle, true)
}

const addMessage = (control: Control): HTMLElement => {
  const message = document.createElement('span')
  message.id = createRandomId()
  message.className = 'block w-full text-xs text-bad wrap-anywhere'
  message.setAttribute('role', 'alert')
  control.setAttribute('aria-errormessage', message.id)
  // A checkbox of a group belongs to the group, and its label is too small for a message.
  const place = (control.type === 'checkbox' && control.closest('fieldset')) || control.closest('label')
  if (place instanceof HTMLLabelElement && !control.ariaLabel) {
    // Otherwise, the message in the label would become a part of the name of the field.
    control.ariaLabel = readLabel(place)
    message.dataset.named = 'true'
  }
  if (place) place.append(message)
  else control.after(message)
  return message
}

/** Returns the text of a label without the texts of its controls, such as options. */
const readLabel = (label: HTMLLabelElement): string => {
  const copy = label.cloneNode(true)
  if (copy instanceof HTMLElement) for (const each of copy.querySelectorAll('select, textarea, button')) each.remove()
  return (copy.textContent ?? '').replaceAll(/\s+/g, ' ').trim()
}
