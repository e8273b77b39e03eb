module regression

go 1.19
