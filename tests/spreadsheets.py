"""Spreadsheets made by hand: the parts of an XLSX file with one sheet."""

import re

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
DOC = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
PARTS = {
    "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/'
    'content-types"/>',
    "_rels/.rels": f'<Relationships xmlns="{RELATIONS}"><Relationship Id="r1" Type="{DOC}/'
    'officeDocument" Target="xl/workbook.xml"/></Relationships>',
    "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{DOC}"><sheets><sheet name="s"'
    ' sheetId="1" r:id="r1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{RELATIONS}"><Relationship'
    f' Id="r1" Type="{DOC}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
}


def cell(value, place=""):
    place = f' r="{place}"' if place else ""
    if isinstance(value, str):
        return f'<c{place} t="inlineStr"><is><t>{value}</t></is></c>'
    return f"<c{place}><v>{value}</v></c>"


def bare(*rows):
    return "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)


def placed(cells):
    rows = [
        f'<row r="{re.sub("[A-Z]", "", place)}">{cell(value, place)}</row>'
        for place, value in cells.items()
    ]
    return "".join(rows)


def workbook(rows):
    """Return the parts of a file, by name."""
    sheet = f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'
    return {**PARTS, "xl/worksheets/sheet1.xml": sheet}
