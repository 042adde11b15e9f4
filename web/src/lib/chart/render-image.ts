const scale = 2
const margin = 12
const titleHeight = 24
/** CSS properties that the chart inherits from the page, so that the image has to set them. */
const inheritedProperties = ['color', 'font-family', 'font-variant-numeric', 'line-height'] as const

/** Renders a chart as a PNG image, with its title and legend. */
export const renderImage = async (figure: HTMLElement, title: string): Promise<Blob> => {
  const { width, height } = figure.getBoundingClientRect()
  const canvas = document.createElement('canvas')
  canvas.width = (width + 2 * margin) * scale
  canvas.height = (height + 2 * margin + titleHeight) * scale
  const pen = canvas.getContext('2d')
  if (!pen) throw new Error('This browser does not support canvas rendering.')
  const surface = getComputedStyle(figure.closest('.card') ?? document.body)
  pen.scale(scale, scale)
  pen.fillStyle = surface.backgroundColor
  pen.fillRect(0, 0, canvas.width, canvas.height)
  pen.fillStyle = surface.color
  pen.font = `600 14px ${surface.fontFamily}`
  pen.fillText(title, margin, margin + 12)
  const image = new Image()
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(serializeSvg(figure, width, height))}`
  await image.decode()
  pen.drawImage(image, margin, margin + titleHeight, width, height)
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('The image could not be rendered.'))), 'image/png')
  })
}

/** Returns the chart as a standalone SVG that includes the style sheets and theme of the page. */
const serializeSvg = (figure: HTMLElement, width: number, height: number): string => {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
  Object.assign(svg.dataset, document.documentElement.dataset)
  svg.setAttribute('width', String(width))
  svg.setAttribute('height', String(height))
  svg.style.fontSize = getComputedStyle(document.documentElement).fontSize
  svg.style.colorScheme = isDark() ? 'dark' : 'light'
  const style = document.createElementNS('http://www.w3.org/2000/svg', 'style')
  style.textContent = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules].map(textOf)).join('')
  const frame = document.createElementNS('http://www.w3.org/2000/svg', 'foreignObject')
  frame.setAttribute('width', '100%')
  frame.setAttribute('height', '100%')
  const around = document.createElement('div')
  const surface = getComputedStyle(figure)
  for (const name of inheritedProperties) around.style.setProperty(name, surface.getPropertyValue(name))
  around.style.cssText += `;display:flex;flex-direction:column;height:${height}px`
  around.append(figure.cloneNode(true))
  frame.append(around)
  svg.append(style, frame)
  return new XMLSerializer().serializeToString(svg)
}

const textOf = (rule: CSSRule): string => rule.cssText

const isDark = (): boolean => {
  const { theme } = document.documentElement.dataset
  return theme === undefined ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark'
}
