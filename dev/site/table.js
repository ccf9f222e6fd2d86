// Tables that can be searched, filtered, sorted and paged.  A page is whole without this: every row is in its HTML.
//
// A table says what it can do: `data-page` on the table is the number of rows of a page; on a header `data-search` makes
// one search field for the text of these columns, `data-filter="name"` a choice among the values of a column,
// `data-sort` a button.  With `data-many` a cell has several values, in elements with `data-value`.  What is chosen is
// kept in the address after `#`, so that links lead to it and the back button works.

import {
  columnFilteringFeature,
  constructTable,
  createFilteredRowModel,
  createPaginatedRowModel,
  createSortedRowModel,
  rowPaginationFeature,
  rowSortingFeature,
  tableFeatures,
} from '@tanstack/table-core'
import { storeReactivityBindings } from '@tanstack/table-core/store-reactivity-bindings'

const collator = new Intl.Collator('en', { numeric: true })
const byValue = (a, b, id) => collator.compare(a.getValue(id), b.getValue(id))

const features = tableFeatures({
  coreReactivityFeature: storeReactivityBindings(),
  columnFilteringFeature,
  rowPaginationFeature,
  rowSortingFeature,
  filteredRowModel: createFilteredRowModel(),
  paginatedRowModel: createPaginatedRowModel(),
  sortedRowModel: createSortedRowModel(),
})

const text = (cell) => cell.textContent.replace(/\s+/g, ' ').trim()

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties)
  made.append(...children)
  return made
}

function columnsOf(table) {
  return [...table.tHead.rows[0].cells].map((header, place) => ({
    header,
    place,
    title: text(header),
    search: 'search' in header.dataset,
    filter: header.dataset.filter,
    many: 'many' in header.dataset,
    sort: 'sort' in header.dataset,
  }))
}

function rowsOf(table, columns) {
  return [...table.tBodies[0].rows].map((row) => {
    const values = {}
    for (const column of columns) {
      const cell = row.cells[column.place]
      values[column.place] = column.many
        ? [...cell.querySelectorAll('[data-value]')].map((item) => item.dataset.value)
        : text(cell)
      // What people read stands for what links say.
      if (column.many) for (const item of cell.querySelectorAll('[data-value]')) names.set(item.dataset.value, text(item))
    }
    values.search = columns.filter((column) => column.search).map((column) => values[column.place]).join(' ').toLowerCase()
    return { row, values }
  })
}

const names = new Map()

function enhance(table) {
  const size = Number(table.dataset.page)
  const columns = columnsOf(table)
  const data = rowsOf(table, columns)
  const filters = columns.filter((column) => column.filter)
  const has = (row, id, wanted) => [wanted].flat().every((each) => [row.getValue(id)].flat().includes(each))
  const found = (row, id, words) => words.every((word) => row.getValue(id).includes(word))
  const model = constructTable({
    features,
    data,
    columns: [
      ...columns.map((column) => ({
        id: String(column.place),
        accessorFn: (item) => item.values[column.place],
        sortFn: byValue,
        filterFn: has,
      })),
      { id: 'search', accessorFn: (item) => item.values.search, filterFn: found },
    ],
    initialState: { pagination: { pageIndex: 0, pageSize: size } },
    autoResetPageIndex: false,
  })

  const body = table.tBodies[0]
  const region = table.closest('.scroll')
  const status = element('span', { role: 'status' })
  const back = element('button', { type: 'button', textContent: 'Previous' })
  const next = element('button', { type: 'button', textContent: 'Next' })
  const pager = element('div', { className: 'pager' }, back, next, status)
  region.after(pager)

  const controls = element('div', { className: 'controls' })
  const choices = new Map()
  let search = null
  if (columns.some((column) => column.search)) {
    search = element('input', { type: 'search', autocomplete: 'off' })
    controls.append(element('label', {}, 'Search', search))
    search.addEventListener('input', () => remember(true))
  }
  for (const column of filters) {
    const select = element('select', {}, element('option', { value: '', textContent: 'any' }))
    const values = new Set(data.flatMap((item) => item.values[column.place]).filter(Boolean))
    for (const value of [...values].sort((a, b) => collator.compare(names.get(a) ?? a, names.get(b) ?? b))) {
      select.append(element('option', { value, textContent: names.get(value) ?? value }))
    }
    select.addEventListener('change', () => {
      const kept = (chosen.get(column.filter) ?? []).slice(1)
      chosen.set(column.filter, [select.value, ...kept].filter(Boolean))
      remember(false)
    })
    choices.set(column.filter, select)
    controls.append(element('label', {}, column.title, select))
  }
  const clear = element('button', { type: 'button', textContent: 'Show all' })
  clear.addEventListener('click', () => {
    chosen = new Map()
    if (search) search.value = ''
    remember(false)
  })
  if (controls.childElementCount) {
    controls.append(clear)
    region.before(controls)
  }

  for (const column of columns.filter((each) => each.sort || each.search)) {
    const button = element('button', { type: 'button', textContent: column.title })
    column.header.replaceChildren(button)
    button.addEventListener('click', () => {
      const id = String(column.place)
      const now = model.store.state.sorting[0]
      model.setSorting([{ id, desc: now?.id === id && !now.desc }])
      for (const each of columns) each.header.removeAttribute('aria-sort')
      column.header.setAttribute('aria-sort', now?.id === id && !now.desc ? 'descending' : 'ascending')
      model.setPageIndex(0)
      show()
    })
  }

  // What is chosen, by the names of filters.
  let chosen = new Map()

  function remember(typing) {
    const address = new URLSearchParams()
    for (const [name, values] of chosen) for (const value of values) address.append(name, value)
    if (search?.value) address.set('search', search.value)
    const hash = String(address) && `#${address}`
    const place = location.pathname + location.search + hash
    // While someone types, the history gets no step for each letter.
    if (typing) history.replaceState(null, '', place)
    else if (hash !== location.hash) history.pushState(null, '', place)
    apply()
  }

  function recall() {
    const address = new URLSearchParams(location.hash.slice(1))
    chosen = new Map()
    for (const name of choices.keys()) {
      const values = address.getAll(name)
      if (values.length) chosen.set(name, values)
    }
    if (search) search.value = address.get('search') ?? ''
    apply()
  }

  function apply() {
    const wanted = []
    for (const column of filters) {
      const values = chosen.get(column.filter) ?? []
      const select = choices.get(column.filter)
      // A value that no row has cannot be chosen from the list; it finds nothing.
      if (values[0] && ![...select.options].some((option) => option.value === values[0])) {
        select.append(element('option', { value: values[0], textContent: values[0] }))
      }
      select.value = values[0] ?? ''
      if (values.length) wanted.push({ id: String(column.place), value: values })
    }
    const words = search ? search.value.toLowerCase().split(/\s+/).filter(Boolean) : []
    if (words.length) wanted.push({ id: 'search', value: words })
    model.setColumnFilters(wanted)
    model.setPageIndex(0)
    show()
  }

  function show() {
    const rows = model.getRowModel().rows
    const count = model.getFilteredRowModel().rows.length
    body.replaceChildren(...rows.map((row) => row.original.row))
    const { pageIndex } = model.store.state.pagination
    const first = pageIndex * size
    const also = filters.flatMap((column) => (chosen.get(column.filter) ?? []).slice(1)).map((value) => names.get(value) ?? value)
    const shown = count > size ? `${first + 1} to ${first + rows.length} of ` : ''
    const of = count < data.length ? ` of ${data.length}` : ''
    status.textContent = `${shown}${count}${of} rows${also.length ? `, also with ${also.join(', ')}` : ''}`
    back.disabled = pageIndex === 0
    next.disabled = first + size >= count
    back.hidden = next.hidden = count <= size
    clear.hidden = !chosen.size && !search?.value
  }

  back.addEventListener('click', () => { model.previousPage(); show() })
  next.addEventListener('click', () => { model.nextPage(); show() })
  // The address of a place in the page, such as the skip link's, chooses nothing anew.
  const again = () => document.getElementById(location.hash.slice(1)) || recall()
  addEventListener('popstate', again)
  addEventListener('hashchange', again)
  recall()
}

for (const table of document.querySelectorAll('table[data-page]')) enhance(table)
